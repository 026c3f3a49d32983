// Flow tables: what commands may see of the workers' flow tables, and have taken out of them.
// Why:  a table holds a tag of each flow's hash and its backend, no addresses: flows can be counted, and one that is
//       named can be found, but they cannot be listed one by one.
// Thread: any; implemented by the daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "guideway/result.h"

namespace guideway {

enum class FlowPhase : std::uint8_t { fresh, established, closing, udp };

struct FlowCounts {
  std::uint64_t fresh = 0, established = 0, closing = 0, udp = 0;
  [[nodiscard]] std::uint64_t all() const { return fresh + established + closing + udp; }
  [[nodiscard]] std::uint64_t& of(FlowPhase phase) {
    return phase == FlowPhase::fresh         ? fresh
           : phase == FlowPhase::established ? established
           : phase == FlowPhase::closing     ? closing
                                             : udp;
  }
};

struct BackendFlows {
  std::string pool, backend;
  FlowCounts flows;
};
struct WorkerFlows {
  unsigned lcore = 0;
  std::uint64_t flows = 0, room = 0;
};
struct FlowsReport {
  std::vector<BackendFlows> backends;  // all there are, in the site's order of pools, by name within one
  std::uint64_t gone = 0;              // entries of backends that left; no packet follows them
  std::vector<WorkerFlows> workers;
};

// One flow's entry in one worker's table.
struct FlowEntry {
  unsigned lcore = 0;
  std::string pool, backend;  // empty: it left
  FlowPhase phase = FlowPhase::fresh;
  std::chrono::milliseconds quiet{0};  // since its last packet, to within a second
  std::chrono::milliseconds left{0};   // until the entry ends by itself
};

class FlowTables {
 public:
  virtual ~FlowTables() = default;
  // Reads the whole tables.
  virtual FlowsReport report() = 0;
  // One a worker at most.
  virtual std::vector<FlowEntry> find(std::uint64_t flow_hash) = 0;
  // How many entries were removed. Every worker does its own table; a timeout error when one does not answer in time:
  // then it will still do it. By one thread at a time.
  virtual Result<std::uint64_t> purge(const std::string& pool, const std::string& backend) = 0;
  virtual Result<std::uint64_t> purge(std::uint64_t flow_hash) = 0;
};

}  // namespace guideway
