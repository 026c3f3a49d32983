#include "io/publisher.h"

#include <rte_rcu_qsbr.h>

#include <cstdlib>
#include <new>
#include <vector>

// DPDK orders quiescent states by fences, which the thread sanitizer does not follow: it is told.
#if defined(__SANITIZE_THREAD__)
#define GW_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GW_TSAN 1
#endif
#endif
#ifdef GW_TSAN
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#else
static inline void __tsan_acquire(void*) {}
static inline void __tsan_release(void*) {}
#endif

namespace guideway {

QsbrPublisher::QsbrPublisher(unsigned workers) {
  // Own memory, not the EAL's: a publisher lives before the EAL and in tests without one.
  const std::size_t size =
      RTE_ALIGN_CEIL(rte_rcu_qsbr_get_memsize(workers), std::size_t{RTE_CACHE_LINE_SIZE});
  qsbr_ = static_cast<rte_rcu_qsbr*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, size));
  if (qsbr_ == nullptr || rte_rcu_qsbr_init(qsbr_, workers) != 0) throw std::bad_alloc();
}

QsbrPublisher::~QsbrPublisher() { std::free(qsbr_); }

void QsbrPublisher::publish(std::shared_ptr<const Snapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  // The place first: without memory for it the old snapshot would be freed under the workers.
  retired_.emplace_back();
  current_.store(snapshot.get(), std::memory_order_release);
  owner_.swap(snapshot);
  if (snapshot) {
    retired_.back() = {rte_rcu_qsbr_start(qsbr_), std::move(snapshot)};
  } else {
    retired_.pop_back();
  }
}

std::size_t QsbrPublisher::reclaim() {
  // Destroyed after the lock: a snapshot of millions of rows takes its time, and publish() must not wait for
  // that.
  std::vector<std::shared_ptr<const Snapshot>> freed;
  const std::lock_guard lock(mutex_);
  while (!retired_.empty() && rte_rcu_qsbr_check(qsbr_, retired_.front().token, false) == 1) {
    __tsan_acquire(qsbr_);
    freed.push_back(std::move(retired_.front().snapshot));
    retired_.pop_front();
  }
  return retired_.size();
}

void QsbrPublisher::join(unsigned index) {
  rte_rcu_qsbr_thread_register(qsbr_, index);
  rte_rcu_qsbr_thread_online(qsbr_, index);
}

void QsbrPublisher::leave(unsigned index) {
  offline(index);
  rte_rcu_qsbr_thread_unregister(qsbr_, index);
}

void QsbrPublisher::quiescent(unsigned index) {
  __tsan_release(qsbr_);
  rte_rcu_qsbr_quiescent(qsbr_, index);
}

void QsbrPublisher::offline(unsigned index) {
  __tsan_release(qsbr_);
  rte_rcu_qsbr_thread_offline(qsbr_, index);
}

void QsbrPublisher::online(unsigned index) { rte_rcu_qsbr_thread_online(qsbr_, index); }

}  // namespace guideway
