#include "running_eal.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "io/eal.h"
#include "io/log.h"

namespace guideway {
namespace {

EalSettings settings() {
  EalSettings out;
  out.cpus = usable_cpus();
  out.workers = out.cpus;
  out.workers.resize(std::min<std::size_t>(out.workers.size(), 2));
  out.memory = MemoryMode::ordinary;
  out.memory_mb = 256;
  out.prefix = fmt::format("guideway-test-{}", getpid());
  return out;
}

}  // namespace

bool eal_runs() {
  static DpdkLog log;
  static const std::optional<Eal> eal = []() -> std::optional<Eal> {
    auto started = Eal::start(settings());
    if (started) return std::move(*started);
    spdlog::error("{}", started.error().text());
    return std::nullopt;
  }();
  return eal.has_value();
}

std::vector<unsigned> eal_workers() { return settings().workers; }

}  // namespace guideway
