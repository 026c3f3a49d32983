// Queue share: which worker owns which queue of a port.
// What: every queue has exactly one owner, which receives and sends on it; a worker that owns none sends through
//       an owner.
// Why:  a queue has no lock, and a device may have fewer queues than there are workers, or more.
#pragma once

#include <cstddef>
#include <vector>

namespace guideway {

class QueueShare {
 public:
  // `shift` spreads the single queues of several ports over the workers.
  QueueShare(std::size_t queues, std::size_t workers, std::size_t shift)
      : queues_(queues), workers_(workers), shift_(queues < workers ? shift : 0) {}

  [[nodiscard]] std::size_t owner(std::size_t queue) const { return (queue + shift_) % workers_; }
  [[nodiscard]] std::vector<std::size_t> owned(std::size_t worker) const {
    std::vector<std::size_t> out;
    for (std::size_t queue = 0; queue < queues_; ++queue)
      if (owner(queue) == worker) out.push_back(queue);
    return out;
  }
  // The queue that carries what this worker sends: its own first one, else another owner's.
  [[nodiscard]] std::size_t sends_on(std::size_t worker) const {
    const auto own = owned(worker);
    return own.empty() ? worker % queues_ : own.front();
  }

 private:
  std::size_t queues_, workers_, shift_;
};

}  // namespace guideway
