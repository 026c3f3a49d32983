#include "bench/director/start.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "bench/dataplane/clock.h"
#include "bench/director/give_up.h"
#include "bench/director/own_directory.h"
#include "bench/director/process.h"
#include "io/eal.h"
#include "io/log.h"

namespace guideway::bench {
namespace {

constexpr const char* site = R"(hash_seed = 1
[[pool]]
name = "web"
[[pool.backend]]
name = "a"
address = "10.0.1.1"
[[pool.backend]]
name = "b"
address = "10.0.1.2"
[[pool.backend]]
name = "c"
address = "10.0.1.3"
[[service]]
name = "www"
address = "203.0.113.10"
protocol = "tcp"
ports = [80]
pool = "web"
)";

std::vector<std::string> words_of(const std::string& guidewayd, const std::string& directory,
                                  const char* device) {
  std::ofstream(directory + "/site.toml") << site;
  std::ofstream(directory + "/director.toml") << fmt::format(
      "[director]\nsource_ipv4 = \"10.0.0.2\"\nworkers = [{}]\nhugepages = false\nmetrics = \"\"\n"
      "admin_socket = \"{}/api.sock\"\nstate_dir = \"{}/state\"\n"
      "[[port]]\nname = \"gw\"\ndevice = \"{}\"\nnext_hop_mac = \"02:00:00:00:00:99\"\n",
      usable_cpus().back(), directory, directory, device);
  return {guidewayd, "--director", directory + "/director.toml", "--site", directory + "/site.toml"};
}

double milliseconds(const std::vector<std::string>& words, const std::string& directory) {
  return std::chrono::duration<double, std::milli>(Process(words, directory).took()).count();
}

}  // namespace

Start run_start(const std::string& guidewayd, unsigned turns) {
  const std::string directory = own_directory();
  const std::vector<std::string> ours = words_of(guidewayd, directory, "null");
  const std::vector<std::string> empty{std::filesystem::read_symlink("/proc/self/exe"), "--empty-eal"};
  std::vector<double> guidewayds, empties;
  for (unsigned turn = 0; turn < turns; ++turn) {
    empties.push_back(milliseconds(empty, directory));
    std::filesystem::remove_all(directory + "/state");
    guidewayds.push_back(milliseconds(ours, directory));
  }
  return {median(guidewayds), median(empties)};
}

int run_empty_eal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  spdlog::set_level(spdlog::level::warn);
  const DpdkLog log;
  EalSettings settings;
  settings.cpus = usable_cpus();
  settings.workers = {settings.cpus.back()};
  settings.memory = MemoryMode::ordinary;
  settings.prefix = "gw-empty";
  const auto eal = Eal::start(settings);
  if (!eal) give_up(eal.error().text());
  sd_notify(0, "READY=1");
  int signal = 0;
  sigwait(&set, &signal);
  return 0;
}

double run_asleep(const std::string& guidewayd, unsigned seconds) {
  const std::string directory = own_directory();
  const Process director(words_of(guidewayd, directory, "ring:gw"), directory);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the start has its own price
  const auto before = director.cpu_time();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const std::chrono::duration<double> used = director.cpu_time() - before,
                                      passed = std::chrono::steady_clock::now() - begin;
  return 100 * used.count() / passed.count();
}

}  // namespace guideway::bench
