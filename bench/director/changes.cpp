#include "bench/director/changes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/dataplane/clock.h"
#include "bench/director/director_under_test.h"
#include "bench/director/endless_port.h"
#include "bench/director/give_up.h"

namespace guideway::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Mode = EndlessPort::Mode;

double part(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

std::uint64_t voluntary_switches(int thread) {
  std::ifstream status(fmt::format("/proc/self/task/{}/status", thread));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("voluntary_ctxt_switches:")) return std::stoull(line.substr(line.find(':') + 1));
  give_up("the worker's thread has no status in /proc");
}

template <class Ready>
void wait_for(const char* what, Ready ready) {
  for (const auto end = Clock::now() + 5s; !ready();) {
    if (Clock::now() > end) give_up(fmt::format("{} has not come in 5 s", what));
    std::this_thread::yield();
  }
}

// Works on a thread beside the control threads, while the worker forwards.
class Driver {
 public:
  Driver(const ChangesRules& rules, const DirectorUnderTest& director, EndlessPort& port)
      : rules_(rules), director_(director), port_(port), per_us_(cycles_per_ns() * 1000) {}

  Changes run() {
    port_.set(Mode::unmeasured);
    wait_for("the worker's first poll", [&] { return port_.worker_thread() != 0; });
    std::this_thread::sleep_for(200ms);  // caches, and pages that are touched for the first time
    Changes out;
    std::chrono::duration<double> with{}, without{};
    std::uint64_t sent_with = 0, sent_without = 0;
    const std::uint64_t waits_before = voluntary_switches(port_.worker_thread());
    for (std::uint32_t second = 0; second < rules_.seconds; ++second) {
      without += timed(Mode::without_changes, sent_without, [&] { std::this_thread::sleep_for(1s); });
      with += timed(Mode::with_changes, sent_with, [&] { change_for_a_second(); });
    }
    out.waits = voluntary_switches(port_.worker_thread()) - waits_before;
    port_.set(Mode::silent);
    std::this_thread::sleep_for(100ms);
    out.changes = changes_;
    out.packets_per_second = static_cast<double>(sent_with) / with.count();
    out.packets_per_second_without = static_cast<double>(sent_without) / without.count();
    count_packets(out);
    tell_times(out);
    return out;
  }

 private:
  template <class Work>
  Clock::duration timed(Mode mode, std::uint64_t& sent, Work work) {
    const std::uint64_t before = port_.sent();
    const auto begin = Clock::now();
    port_.set(mode);
    work();
    port_.set(Mode::unmeasured);
    sent += port_.sent() - before;
    return Clock::now() - begin;
  }

  void change_for_a_second() {
    auto turn = Clock::now();
    for (std::uint32_t n = 0; n < rules_.a_second; n += 2, ++pair_) {
      // Another pool and another of its rows each time.
      const std::uint32_t pool = pair_ % rules_.pools;
      do ++probe_;
      while (service_of(probe_, rules_.pools) != pool);
      port_.set_probe(probe_);
      wait_for("the probe's packet", [&] { return port_.probe().destination != 0; });
      const std::uint32_t home = port_.probe().destination;
      const std::string backend = fmt::format("b{}", home - backend_range.ipv4 - pool * rules_.backends_each);
      for (const char* verb : {"drain", "undrain"}) {
        std::this_thread::sleep_until(turn);
        turn += std::chrono::nanoseconds(1s) / rules_.a_second;
        change(verb, fmt::format("p{}", pool), backend);
      }
      if (port_.probe().destination != home) give_up("an undrained backend has not got its row back");
    }
  }

  void change(const std::string& verb, const std::string& pool, const std::string& backend) {
    const std::uint32_t before = port_.probe().destination;
    const Fd connection = director_.connect();
    std::this_thread::sleep_for(1ms);  // the API accepts it
    const std::uint64_t begin = rte_rdtsc_precise();
    (void)director_.ask(connection, {"backend", verb, pool, backend});
    answers_.push_back(static_cast<double>(rte_rdtsc_precise() - begin));
    wait_for("a packet by the new rows", [&] { return port_.probe().destination != before; });
    auto& times = verb == "drain" ? drains_ : undrains_;
    times.push_back(static_cast<double>(port_.probe().since_tsc - begin));
    ++changes_;
  }

  void count_packets(Changes& out) const {
    const nlohmann::json stats = director_.ask({"stats"});
    std::uint64_t accounted = 0;
    for (const char* kind : {"verdicts", "drops"})
      for (const auto& [name, counts] : stats.at(kind).items()) {
        const auto packets = counts.at("packets").get<std::uint64_t>();
        accounted += packets;
        if (name != "forward" && packets != 0) out.lost += packets;
      }
    const auto counted_in = stats.at("packets_in").get<std::uint64_t>();
    const auto apart = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
    out.lost = std::max(out.lost, apart(port_.received(), port_.sent()));
    out.uncounted = apart(counted_in, accounted) + apart(counted_in, port_.received());
  }

  void tell_times(Changes& out) const {
    out.drain_median = part(drains_, 0.5) / per_us_;
    out.drain_p90 = part(drains_, 0.9) / per_us_;
    out.undrain_median = part(undrains_, 0.5) / per_us_;
    out.answer_median = part(answers_, 0.5) / per_us_;
    const Rounds &with = port_.rounds(true), &without = port_.rounds(false);
    out.round_median = with.share(0.5) / per_us_;
    out.round_median_without = without.share(0.5) / per_us_;
    out.round_p999 = with.share(0.999) / per_us_;
    out.round_p999_without = without.share(0.999) / per_us_;
    out.round_most = with.most() / per_us_;
    out.round_most_without = without.most() / per_us_;
    out.swap_median = part(port_.swaps(), 0.5) / per_us_;
  }

  const ChangesRules& rules_;
  const DirectorUnderTest& director_;
  EndlessPort& port_;
  const double per_us_;
  std::uint32_t pair_ = 0;
  std::uint32_t probe_ = 0;  // the flow whose packet shows the rows
  std::uint64_t changes_ = 0;
  std::vector<double> drains_, undrains_, answers_;
};

// What the disk itself takes for what the journal asks of it: two blocks within a file made durable.
double durable_bare(const std::string& directory) {
  constexpr int writes = 50;
  const std::string name = directory + "/durable", blocks(8192, 'x'), zeroes(writes * blocks.size(), '\0');
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, zeroes.data(), zeroes.size()) < 0 || fsync(file) != 0) give_up("the disk");
  std::vector<double> times;
  for (int n = 0; n < writes; ++n) {
    const auto begin = Clock::now();
    const auto place = static_cast<off_t>(n * blocks.size());
    if (pwrite(file, blocks.data(), blocks.size(), place) < 0 || fdatasync(file) != 0) give_up("the disk");
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  close(file);
  return part(std::move(times), 0.5);
}

}  // namespace

Changes run_changes(const ChangesRules& rules) {
  DirectorUnderTest director(numbered_site(rules.pools, rules.backends_each), Polling::busy);
  TrafficRules traffic;
  traffic.flows = 1'000'000;
  traffic.services = rules.pools;
  EndlessPort& port = EndlessPort::open("gw", traffic);
  Changes out;
  director.serve_while([&] {
    const double bare = durable_bare(director.directory());
    out = Driver(rules, director, port).run();
    out.durable_bare_median = bare;
  });
  return out;
}

}  // namespace guideway::bench
