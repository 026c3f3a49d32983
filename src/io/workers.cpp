#include "io/workers.h"

#include <fmt/format.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

namespace guideway {

struct Workers::Launch {
  Worker& worker;
  const std::atomic<bool>& stop;
  static int run(void* launch) {
    auto* self = static_cast<Launch*>(launch);
    self->worker.run(self->stop);
    return 0;
  }
};

namespace {

// What nobody outside knows. Without the kernel's randomness, which a host has long before this starts, it is the clock.
std::uint64_t random_secret() {
  std::uint64_t secret = 0;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) secret = rte_get_tsc_cycles();
  return secret;
}

}  // namespace

Workers::Workers(const DirectorConfig& config, const Ports& ports, const NextHops& next_hops,
                 QsbrPublisher& publisher) {
  const std::size_t count = config.workers.size();
  const std::uint64_t secret = random_secret();
  for (std::size_t i = 0; i < count; ++i) {
    counters_.push_back(std::make_unique<WorkerCounters>());
    flows_.push_back(std::make_unique<FlowState>(config.flow_table_entries, secret));
  }
  peers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t other = 0; other < count; ++other)
      if (other != i) peers_[i].push_back(flows_[other].get());
    WorkerParts parts{
        static_cast<unsigned>(i), config.workers[i], publisher,     clock_, next_hops, ports.table(),
        ports.links(i),           ports.pool(),      config.polling};
    workers_.push_back(std::make_unique<Worker>(std::move(parts), *counters_[i], *flows_[i], peers_[i]));
  }
}

Workers::~Workers() { stop(); }

Result<void> Workers::start() {
  stop_.store(false, std::memory_order_relaxed);
  for (const auto& worker : workers_) {
    auto launch = std::make_unique<Launch>(Launch{*worker, stop_});
    if (const int status = rte_eal_remote_launch(Launch::run, launch.get(), worker->lcore()); status != 0) {
      stop();
      return fail(ErrorKind::internal,
                  fmt::format("worker {} does not start: {}", worker->lcore(), rte_strerror(-status)));
    }
    running_.push_back(std::move(launch));
  }
  return {};
}

void Workers::stop() {
  stop_.store(true, std::memory_order_relaxed);
  for (const auto& launch : running_) rte_eal_wait_lcore(launch->worker.lcore());
  if (running_.empty()) return;
  running_.clear();
  std::uint64_t left_behind = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    left_behind -= counters_[i]->verdicts.left_behind.get();
    workers_[i]->drain();
    left_behind += counters_[i]->verdicts.left_behind.get();
  }
  if (left_behind > 0)
    spdlog::warn(fmt::format("{} packet(s) were lost at the end: the ports' queues were full", left_behind));
}

}  // namespace guideway
