#include "io/eal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pdump.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace guideway {
namespace {

// The main lcore only runs the control loop: it gets every CPU that no worker polls on, and the workers' own
// only where there is no other.
std::vector<unsigned> control_cpus(const EalSettings& settings) {
  std::vector<unsigned> out;
  for (const unsigned cpu : settings.cpus) {
    if (std::find(settings.workers.begin(), settings.workers.end(), cpu) == settings.workers.end())
      out.push_back(cpu);
  }
  return out.empty() ? settings.cpus : out;
}

// The highest number that no worker has; lcore numbers are names, the CPUs stand behind the '@'.
unsigned main_lcore(const EalSettings& settings) {
  unsigned lcore = RTE_MAX_LCORE - 1;
  while (std::find(settings.workers.begin(), settings.workers.end(), lcore) != settings.workers.end())
    --lcore;
  return lcore;
}

Result<void> check_workers(const EalSettings& settings) {
  if (settings.workers.empty())
    return fail(ErrorKind::invalid, "workers is empty", {}, "name at least one lcore, as in workers = [1]");
  auto sorted = settings.workers;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return fail(ErrorKind::invalid, fmt::format("worker {} is named twice", *twice), {},
                "name each lcore once");
  for (const unsigned worker : sorted) {
    if (std::find(settings.cpus.begin(), settings.cpus.end(), worker) != settings.cpus.end()) continue;
    return fail(
        ErrorKind::invalid,
        fmt::format("worker {} has no CPU: this process may use {}", worker, fmt::join(settings.cpus, ", ")),
        {}, "choose workers among these");
  }
  if (sorted.size() >= RTE_MAX_LCORE || sorted.back() >= RTE_MAX_LCORE)
    return fail(ErrorKind::invalid, fmt::format("DPDK takes lcores 0 to {}", RTE_MAX_LCORE - 1), {},
                "choose workers among these");
  return {};
}

// The directory of the telemetry socket, which goes at exit itself: whoever is registered before it runs after it.
void remove_runtime_directory_at_exit() {
  static const int registered = std::atexit([] { rmdir(rte_eal_get_runtime_dir()); });
  (void)registered;
}

}  // namespace

Result<std::vector<std::string>> eal_arguments(const EalSettings& settings) {
  if (auto checked = check_workers(settings); !checked) return tl::unexpected(checked.error());
  const unsigned main = main_lcore(settings);
  std::string lcores = fmt::format("{}@({})", main, fmt::join(control_cpus(settings), ","));
  for (const unsigned worker : settings.workers) lcores += fmt::format(",{0}@{0}", worker);
  std::vector<std::string> out{"--lcores",           lcores,          "--main-lcore",
                               std::to_string(main), "--file-prefix", settings.prefix};
  if (settings.pci_devices.empty()) {
    out.insert(out.end(), {"--no-pci", "--iova-mode", "va"});
  }
  for (const auto& device : settings.pci_devices) out.insert(out.end(), {"-a", device});
  // Neither leaves files behind; --in-memory cannot be had together with --no-huge.
  if (settings.memory == MemoryMode::ordinary)
    out.insert(out.end(), {"--no-huge", "--no-shconf", "-m", std::to_string(settings.memory_mb)});
  else if (!settings.capture)
    out.emplace_back("--in-memory");
  return out;
}

std::vector<unsigned> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> out;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
  return out;
}

std::uint64_t free_hugepages() {
  std::uint64_t sum = 0;
  std::error_code error;
  for (const auto& size : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", error)) {
    std::uint64_t pages = 0;
    std::ifstream(size.path() / "free_hugepages") >> pages;
    sum += pages;
  }
  return sum;
}

Result<Eal> Eal::start(const EalSettings& settings) {
  auto arguments = eal_arguments(settings);
  if (!arguments) return tl::unexpected(arguments.error());
  remove_runtime_directory_at_exit();
  std::string program = "guidewayd";
  std::vector<char*> argv{program.data()};
  for (auto& argument : *arguments) argv.push_back(argument.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0) {
    return fail(ErrorKind::refused, fmt::format("DPDK did not start: {}", rte_strerror(rte_errno)), {},
                "see the lines of \"dpdk:\" above; memory, rights and the device's driver binding are the "
                "usual causes");
  }
  Eal out;
  if (!settings.capture) return out;
  out.capture_ = rte_pdump_init() == 0;
  if (!out.capture_)
    return fail(ErrorKind::refused, fmt::format("capturing cannot be prepared: {}", rte_strerror(rte_errno)),
                {}, "set capture = false");
  return out;
}

Eal::~Eal() {
  if (!running_) return;
  if (capture_) rte_pdump_uninit();
  rte_eal_cleanup();
}

}  // namespace guideway
