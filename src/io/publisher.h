// QSBR publisher: the present snapshot, and when an old one may be freed.
// What: one atomic pointer that workers read once a burst; an old snapshot is retired with a token and freed
// when
//       every worker that is online has passed a quiescent state since.
// Why:  a grace period takes microseconds on a quiet machine and a tenth of a second on a noisy one, so
// nobody
//       waits for it: reclaim() asks and comes back.
// Cost: a worker pays one load of a pointer and two stores of a counter a burst.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "snapshot/publisher.h"

struct rte_rcu_qsbr;

namespace guideway {

class QsbrPublisher final : public Publisher {
 public:
  explicit QsbrPublisher(unsigned workers);
  ~QsbrPublisher() override;  // workers have left
  QsbrPublisher(const QsbrPublisher&) = delete;
  QsbrPublisher& operator=(const QsbrPublisher&) = delete;

  // Any control thread; never waits for a worker.
  void publish(std::shared_ptr<const Snapshot> snapshot) override;
  // Any control thread: frees what no worker can read any more; answers with the number still waiting.
  std::size_t reclaim();

  // Worker `index` (0 .. workers-1), from its own thread. Between join and leave, and not after offline(), it
  // may use what current() answered until it calls quiescent() or offline().
  void join(unsigned index);
  void leave(unsigned index);
  void quiescent(unsigned index);
  void offline(unsigned index);  // before it sleeps
  void online(unsigned index);
  [[nodiscard]] const Snapshot* current() const { return current_.load(std::memory_order_acquire); }

 private:
  struct Retired {
    std::uint64_t token = 0;
    std::shared_ptr<const Snapshot> snapshot;
  };

  std::atomic<const Snapshot*> current_{nullptr};
  rte_rcu_qsbr* qsbr_ = nullptr;
  std::mutex mutex_;  // among control threads; guards what follows
  std::shared_ptr<const Snapshot> owner_;
  std::deque<Retired> retired_;  // oldest first
};

}  // namespace guideway
