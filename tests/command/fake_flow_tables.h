// Fake flow tables: they hold what a test has put there; a purge takes it out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command/flow_tables.h"

namespace guideway {

class FakeFlowTables final : public FlowTables {
 public:
  FlowsReport held;
  std::vector<FlowEntry> entries;
  std::vector<std::uint64_t> hashes_asked;
  bool late = false;  // a worker does not answer

  FlowsReport report() override { return held; }
  std::vector<FlowEntry> find(std::uint64_t flow_hash) override {
    hashes_asked.push_back(flow_hash);
    return entries;
  }
  Result<std::uint64_t> purge(const std::string& pool, const std::string& backend) override {
    if (late) return fail(ErrorKind::timeout, "a worker did not answer");
    for (BackendFlows& flows : held.backends)
      if (flows.pool == pool && flows.backend == backend) return std::exchange(flows.flows, {}).all();
    return 0;
  }
  Result<std::uint64_t> purge(std::uint64_t) override { return std::exchange(entries, {}).size(); }
};

}  // namespace guideway
