// Workers: all poll loops, with what belongs to each.
// What: makes counters, flow table and worker for every lcore, starts them and stops them.
// Thread: control. What each has counted and tracks may be read while they run.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "guideway/result.h"
#include "io/clock.h"
#include "io/ports.h"
#include "io/publisher.h"
#include "io/worker.h"

namespace guideway {

class Workers {
 public:
  Workers(const DirectorConfig& config, const Ports& ports, const NextHops& next_hops,
          QsbrPublisher& publisher);
  ~Workers();  // stops them
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] Result<void> start();
  void
  stop();  // comes back when all have left their loops and what they handed to each other is sent, or counted

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] unsigned lcore(std::size_t index) const { return workers_[index]->lcore(); }
  [[nodiscard]] const WorkerCounters& counters(std::size_t index) const { return *counters_[index]; }
  [[nodiscard]] const FlowTable& flows(std::size_t index) const { return flows_[index]->table; }
  // One thread at a time.
  [[nodiscard]] FlowPurge& purge(std::size_t index) { return workers_[index]->purge(); }
  [[nodiscard]] const Clock& clock() const { return clock_; }

 private:
  struct Launch;
  Clock clock_;
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<WorkerCounters>> counters_;
  std::vector<std::unique_ptr<FlowState>> flows_;
  std::vector<std::vector<const FlowState*>> peers_;  // of each worker: the others'
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Launch>> running_;
};

}  // namespace guideway
