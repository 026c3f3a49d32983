// Running a case: the pipeline beside the floor on packets of the same kind, in the same run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/dataplane/cases.h"

namespace guideway::bench {

// TSC cycles a packet.
struct Costs {
  double whole = 0;  // receive, the pipeline, send
  double floor = 0;  // receive, prepend 40 bytes of a template, send
  double copy_only =
      0;  // receive, copy 40 bytes to where headers would stand, send: nothing of the mbuf is touched
  double receive = 0;  // receive and send
  [[nodiscard]] double over_floor() const { return whole - floor; }
};

// Ends the process where not every packet was forwarded: a figure of packets that were dropped would be none.
[[nodiscard]] Costs run_case(const Case& wanted, rte_mempool* mbufs, std::size_t rounds);

// `bursts` of the case, received, and with `pipeline` also run, and nothing measured: for a tool that counts what they
// take. The difference of two runs leaves out the start.
void run_bare(const Case& wanted, rte_mempool* mbufs, std::size_t bursts, bool pipeline);
// run_bare's pipeline for one burst: the name by which callgrind is told what to count.
[[gnu::noinline]] void run_counted(Testbed& testbed, std::uint32_t now_ms);

struct StageCost {
  std::string stage;
  double cycles = 0;  // a packet
};
// The same packets stage by stage; the sum is more than the whole, as each stage ends before the clock is read.
[[nodiscard]] std::vector<StageCost> run_stages(const Case& wanted, rte_mempool* mbufs, std::size_t rounds);

}  // namespace guideway::bench
