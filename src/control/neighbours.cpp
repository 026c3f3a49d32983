#include "control/neighbours.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "control/neighbours_book.h"
#include "control/neighbours_kernel.h"
#include "control/thread_faults.h"

namespace guideway {

struct Neighbours::Impl {
  KernelEvents events;  // the thread's own
  const LinkCallback on_link_change;
  const int wake;  // eventfd

  mutable std::mutex mutex;  // everything below
  std::condition_variable turned;
  NeighbourBook book;
  std::optional<std::vector<IpAddress>> inbox;
  bool started = false, stopping = false;

  std::thread thread;

  Impl(NeighbourBook empty, KernelEvents told, LinkCallback callback, int wake_descriptor)
      : events(std::move(told)),
        on_link_change(std::move(callback)),
        wake(wake_descriptor),
        book(std::move(empty)) {}
  ~Impl() { close(wake); }

  void kick() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t done = write(wake, &one, sizeof one);  // full means: already awake
  }
  void run();
  bool turn();
  void wait(std::chrono::milliseconds limit) const;
  [[nodiscard]] bool settled() const { return started && !inbox && book.settled(); }
};

void Neighbours::Impl::run() {
  ThreadFaults faults("neighbours");
  for (bool goes_on = true; goes_on;) {
    const bool whole = faults.caught([this, &goes_on] { goes_on = turn(); });
    if (whole) continue;
    // What broke off is looked up anew.
    const std::lock_guard lock(mutex);
    started = false;
  }
}

// False at the end.
bool Neighbours::Impl::turn() {
  std::vector<LinkState> changes;
  std::chrono::milliseconds limit{0};
  {
    const std::lock_guard lock(mutex);
    if (stopping) return false;
    if (!started) book.resync();
    if (inbox) book.set_backends({inbox->begin(), inbox->end()});
    inbox.reset();
    book.turn(events);
    changes = book.take_link_changes();
    if (!std::exchange(started, true)) changes = book.links();
    limit = book.time_to_next();
  }
  turned.notify_all();
  if (!changes.empty() && on_link_change) on_link_change(changes);
  wait(limit);
  return true;
}

void Neighbours::Impl::wait(std::chrono::milliseconds limit) const {
  std::array<pollfd, 2> waiting{{{events.descriptor(), POLLIN, 0}, {wake, POLLIN, 0}}};
  poll(waiting.data(), waiting.size(), static_cast<int>(limit.count()));
  if (waiting[1].revents == 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(wake, &count, sizeof count);
}

// The public face.

Neighbours::Neighbours(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Neighbours>> Neighbours::start(std::vector<NeighbourPort> ports, NextHops& next_hops,
                                                      LinkCallback on_link_change, NeighbourOptions options) {
  // Events first: what changes between the first look and the first event must not be missed.
  auto events = KernelEvents::open();
  if (!events) return tl::unexpected(events.error());
  auto queries = KernelQueries::open();
  if (!queries) return tl::unexpected(queries.error());
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0)
    return fail(ErrorKind::internal, "neighbours: no eventfd", {}, "raise the limit of open files");
  auto impl = std::make_unique<Impl>(NeighbourBook(std::move(ports), next_hops, options, std::move(*queries)),
                                     std::move(*events), std::move(on_link_change), wake);
  Impl* raw = impl.get();
  raw->thread = std::thread([raw] { raw->run(); });
  return std::unique_ptr<Neighbours>(new Neighbours(std::move(impl)));
}

Neighbours::~Neighbours() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->kick();
  impl_->thread.join();
  impl_->book.release_all();
}

void Neighbours::set_backends(std::vector<IpAddress> backends) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->inbox = std::move(backends);
  }
  impl_->kick();
}

bool Neighbours::wait_settled(std::chrono::milliseconds limit) {
  std::unique_lock lock(impl_->mutex);
  return impl_->turned.wait_for(lock, limit, [this] { return impl_->settled(); });
}

void Neighbours::set_device_link(std::uint8_t port, bool up) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->book.set_device_link(port, up);
  }
  impl_->kick();
}

std::vector<NextHopReport> Neighbours::reports() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->book.reports();
}

std::vector<LinkState> Neighbours::links() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->book.links();
}

}  // namespace guideway
