#include "bench/dataplane/two_workers.h"

#include <pthread.h>
#include <rte_lcore.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "bench/dataplane/clock.h"
#include "bench/dataplane/ring_director.h"

namespace guideway::bench {
namespace {

constexpr std::size_t workers = 2;
// Which of the director's workers they are: the ring driver counts 24 bytes a queue side by side, and neighbours would
// write to the same cache line, which a NIC's queues do not.
constexpr std::array<std::size_t, workers> seats{0, 7};

// A unit of work of each worker; in order of the worker, who may do them at the same time.
using Works = std::array<std::function<void()>, workers>;

// Units of work a cycle, for a time long enough that both are at it for nearly all of it.
double rate(const std::function<void()>& work) {
  constexpr std::uint64_t cycles_at_least = 4'000'000;
  const std::uint64_t begin = rte_rdtsc_precise();
  std::uint64_t done = 0, cycles = 0;
  while (cycles < cycles_at_least) {
    for (int n = 0; n < 16; ++n) work();
    done += 16;
    cycles = rte_rdtsc_precise() - begin;
  }
  return static_cast<double>(done) / static_cast<double>(cycles);
}

void run_on(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 || rte_thread_register() != 0)
    give_up("the second worker's thread cannot be what it has to be");
}

// Both at once in multiples of the first one alone; the median of the rounds. What `works` do for the second worker is
// done on the other CPU.
std::vector<double> compare(const std::vector<Works>& all, unsigned other_cpu, std::size_t rounds) {
  std::barrier both(workers);
  std::vector<double> other(all.size());
  std::thread second([&] {
    run_on(other_cpu);
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t n = 0; n < all.size(); ++n) {
        both.arrive_and_wait();
        other[n] = rate(all[n][1]);
        both.arrive_and_wait();
      }
    }
    rte_thread_unregister();
  });
  std::vector<std::vector<double>> multiples(all.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t n = 0; n < all.size(); ++n) {
      const double alone = rate(all[n][0]);
      both.arrive_and_wait();
      const double beside = rate(all[n][0]);
      both.arrive_and_wait();
      multiples[n].push_back((beside + other[n]) / alone);
    }
  }
  second.join();
  std::vector<double> out;
  std::ranges::transform(multiples, std::back_inserter(out), [](auto& of) { return median(std::move(of)); });
  return out;
}

// As much at a time as a core can take: four chains that know nothing of each other.
void calculate() {
  std::uint64_t a = 1, b = 2, c = 3, d = 4;
  for (int n = 0; n < 2'000; ++n) {
    a = a * 3 + 1;
    b = b * 5 + 1;
    c = c * 7 + 1;
    d = d * 9 + 1;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
}

}  // namespace

TwoWorkers run_two_workers(unsigned other_cpu, std::size_t rounds) {
  const std::size_t queues = seats.back() + 1;
  const auto ports = open_ring_ports(queues);
  Settings stateless, tracked;
  stateless.traffic.flows = 1'000'000;
  stateless.traffic.mac = ports->table().ports[0].mac;
  tracked = stateless;
  tracked.flow_table = true;
  tracked.table_flows = tracked.traffic.flows;
  RingDirector without(stateless, *ports, queues), with(tracked, *ports, queues);
  std::array<Wire, workers> wires{Wire(stateless.traffic, ports->pool(), seats[0]),
                                  Wire(stateless.traffic, ports->pool(), seats[1])};
  for (std::size_t n = 0; n < workers; ++n)
    for (const Flags flags : {Flags::syn, Flags::ack})
      for (std::uint32_t flow = 0; flow < tracked.traffic.flows; flow += burst_max)
        wires[n].pass_in_order(flags, flow, [&] { with.round(seats[n]); });
  const auto forwarding = [&](RingDirector& director) {
    const auto pass = [&](std::size_t n) { wires[n].pass(Flags::ack, [&] { director.round(seats[n]); }); };
    return Works{[=] { pass(0); }, [=] { pass(1); }};
  };
  const auto multiples =
      compare({{calculate, calculate}, forwarding(without), forwarding(with)}, other_cpu, rounds);
  if (!without.all_forwarded() || !with.all_forwarded()) give_up("not every packet was forwarded end to end");
  return {multiples[0], multiples[1], multiples[2]};
}

}  // namespace guideway::bench
