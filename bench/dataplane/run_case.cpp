#include "bench/dataplane/run_case.h"

#include <rte_prefetch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/dataplane/clock.h"
#include "dataplane/stages.h"

namespace guideway::bench {
namespace {

constexpr std::uint32_t start_ms = 1000;
constexpr std::size_t template_size = 40;

// A testbed in the state that the case begins in, and what comes in then.
class Run {
 public:
  Run(const Case& wanted, rte_mempool* mbufs) : case_(wanted), testbed_(wanted.settings, mbufs) {
    if (wanted.settings.flow_table) fill();
  }

  void receive() {
    switch (case_.arrivals) {
      case Arrivals::known:
        return testbed_.traffic().receive(testbed_.burst(), Flags::ack);
      case Arrivals::unknown:
        return testbed_.traffic().receive_in_order(testbed_.burst(), Flags::ack, next_flow());
      case Arrivals::opening:
        // At 10 s for a flow that only began, half of the table's room is in use.
        now_ms_ += ++bursts_ % 2;
        return testbed_.traffic().receive_in_order(testbed_.burst(), Flags::syn, next_flow());
      case Arrivals::flood:
        return testbed_.traffic().receive_in_order(testbed_.burst(), Flags::syn, next_flow());
    }
  }
  void run() { testbed_.run(now_ms_); }
  [[nodiscard]] std::uint32_t now_ms() const { return now_ms_; }
  [[nodiscard]] Testbed& testbed() { return testbed_; }

  void check() const {
    const VerdictCounters& counted = testbed_.counted();
    if (counted.packets[static_cast<std::size_t>(Verdict::forward)].get() == counted.packets_in.get()) return;
    std::fprintf(stderr, "bench: %s: not every packet was forwarded\n", case_.name.c_str());
    std::exit(1);
  }

 private:
  // Every flow of the case with an entry of its own. Where new ones shall come, the table stays empty.
  void fill() {
    if (case_.arrivals == Arrivals::opening) return;
    for (const Flags flags : {Flags::syn, Flags::ack})
      for (std::uint32_t flow = 0; flow < case_.settings.traffic.flows; flow += burst_max) {
        testbed_.traffic().receive_in_order(testbed_.burst(), flags, flow);
        testbed_.run(now_ms_);
      }
  }
  std::uint32_t next_flow() { return next_flow_ += burst_max; }

  const Case& case_;
  Testbed testbed_;
  std::uint32_t now_ms_ = start_ms;
  std::uint32_t next_flow_ = 0x10000000;  // beyond all that fill() made
  std::uint32_t bursts_ = 0;
};

// What every director has to do with a packet, and nothing else.
class Floor {
 public:
  Floor(const TrafficRules& rules, rte_mempool* mbufs) : traffic_(rules, mbufs) {}

  void receive() {
    traffic_.receive(burst_, Flags::ack);
    send();
  }
  void copy_only() {
    traffic_.receive(burst_, Flags::ack);
    for (std::size_t i = 0; i < burst_max; ++i) {
      std::uint8_t* frame = rte_pktmbuf_mtod(burst_.packets[i], std::uint8_t*);
      std::memcpy(frame - template_size, template_.data(), template_size);
    }
    send();
  }
  void prepend() {
    traffic_.receive(burst_, Flags::ack);
    for (std::size_t i = 0; i < burst_max; ++i) rte_prefetch0(rte_pktmbuf_mtod(burst_.packets[i], void*));
    for (std::size_t i = 0; i < burst_max; ++i)
      std::memcpy(rte_pktmbuf_prepend(burst_.packets[i], template_size), template_.data(), template_size);
    send();
  }

 private:
  // A port takes the array.
  void send() {
    const void* taken = burst_.packets.data();
    asm volatile("" : : "r"(taken) : "memory");
  }
  Traffic traffic_;
  Burst burst_;
  std::array<std::uint8_t, template_size> template_{};
};

struct Stage {
  const char* name;
  void (*run)(const PipelineParts&, const Snapshot&, TokenBucket&, std::uint32_t, Burst&, Outputs&);
};

// As Pipeline::run has them.
constexpr std::array<Stage, 9> all_stages{{
    {"parse", [](auto& parts, auto&, auto&, auto, auto& burst, auto&) { stages::parse(parts, burst); }},
    {"follow_fragments", [](auto& parts, auto& snapshot, auto&, auto now, auto& burst,
                            auto&) { stages::follow_fragments(parts, snapshot, now, burst); }},
    {"find_service",
     [](auto&, auto& snapshot, auto&, auto, auto& burst, auto&) { stages::find_service(snapshot, burst); }},
    {"hash_flows",
     [](auto& parts, auto&, auto&, auto, auto& burst, auto&) { stages::hash_flows(parts, burst); }},
    {"lookup_flows", [](auto& parts, auto& snapshot, auto&, auto now, auto& burst,
                        auto&) { stages::lookup_flows(parts, snapshot, now, burst); }},
    {"choose_backend",
     [](auto& parts, auto&, auto&, auto, auto& burst, auto&) {
       stages::choose_backend(burst);
       stages::lead_fragments(parts, burst);
     }},
    {"encapsulate", [](auto& parts, auto&, auto& errors, auto now, auto& burst,
                       auto&) { stages::encapsulate(parts, errors, now, burst); }},
    {"learn_flows",
     [](auto& parts, auto&, auto&, auto now, auto& burst, auto&) { stages::learn_flows(parts, now, burst); }},
    {"answer, account",
     [](auto& parts, auto&, auto&, auto, auto& burst, auto& outputs) {
       stages::answer(parts, burst);
       stages::account(parts, burst, outputs);
     }},
}};

}  // namespace

Costs run_case(const Case& wanted, rte_mempool* mbufs, std::size_t rounds) {
  Run run(wanted, mbufs);
  Floor floor(wanted.settings.traffic, mbufs);
  const auto costs =
      measure<4>({[&] {
                    run.receive();
                    run.run();
                  },
                  [&] { floor.prepend(); }, [&] { floor.copy_only(); }, [&] { floor.receive(); }},
                 burst_max, rounds);
  run.check();
  return {costs[0], costs[1], costs[2], costs[3]};
}

void run_counted(Testbed& testbed, std::uint32_t now_ms) { testbed.run(now_ms); }

void run_bare(const Case& wanted, rte_mempool* mbufs, std::size_t bursts, bool pipeline) {
  Run run(wanted, mbufs);
  for (std::size_t n = 0; n < bursts; ++n) {
    run.receive();
    if (pipeline) run_counted(run.testbed(), run.now_ms());
  }
  run.check();
}

std::vector<StageCost> run_stages(const Case& wanted, rte_mempool* mbufs, std::size_t rounds) {
  Run run(wanted, mbufs);
  Testbed& testbed = run.testbed();
  const PipelineParts parts = testbed.parts();
  TokenBucket errors(1000, 50);
  constexpr std::size_t bursts_a_round = 64;
  std::array<std::vector<double>, all_stages.size()> samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<std::uint64_t, all_stages.size()> cycles{};
    for (std::size_t n = 0; n < bursts_a_round; ++n) {
      run.receive();
      std::uint64_t begin = rte_rdtsc_precise();
      for (std::size_t stage = 0; stage < all_stages.size(); ++stage) {
        all_stages[stage].run(parts, testbed.snapshot(), errors, run.now_ms(), testbed.burst(),
                              testbed.outputs());
        const std::uint64_t end = rte_rdtsc_precise();
        cycles[stage] += end - begin;
        begin = end;
      }
      testbed.outputs().port[0].empty();
      Pipeline::done(testbed.outputs());
    }
    for (std::size_t stage = 0; stage < all_stages.size(); ++stage)
      samples[stage].push_back(static_cast<double>(cycles[stage]) / (bursts_a_round * burst_max));
  }
  std::vector<StageCost> out;
  for (std::size_t stage = 0; stage < all_stages.size(); ++stage)
    out.push_back({all_stages[stage].name, median(std::move(samples[stage]))});
  return out;
}

}  // namespace guideway::bench
