// Audit: whether each packet of a TCP connection reaches a backend that knows the connection.
// What: every backend modelled with its second chance (design section 8): a SYN is accepted where it arrives and
//       makes a connection there; another packet is accepted by the first hop that knows its connection, else it
//       goes on to the next one, and the last hop takes it whatever it knows. Taken by one that does not know it:
//       the connection is broken.
// Why:  a drain or a deal that loses no packet can still break connections; only who knows what tells.
// Not:  sequence numbers, SYN cookies, the servers' side. A connection that began before the capture belongs to
//       the hop that its first packet here was sent to.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "guideway/flow.h"
#include "snapshot/ids.h"

namespace guideway {

struct BrokenFlow {
  FlowTuple tuple;
  std::uint64_t packet = 0;                // number in the capture, counted from 0, at which it broke
  BackendId knew{}, reached = no_backend;  // no_backend: it reached none at all
};

struct AuditReport {
  std::uint64_t flows = 0;         // TCP connections; a SYN on a known tuple to another backend is a new one
  std::uint64_t began_before = 0;  // of these, without a SYN in the capture
  std::uint64_t broken = 0;
  std::uint64_t packets_passed_on = 0;   // accepted by the second or third hop
  std::vector<BrokenFlow> first_broken;  // at most `listed_max`
  static constexpr std::size_t listed_max = 100;
};

class Audit {
 public:
  // A packet that was forwarded, with the backends that it names, at least one.
  void forwarded(const FlowTuple& tuple, bool syn, std::uint64_t packet, std::span<const BackendId> hops);
  // A packet that went to no backend although it looked like one of a connection.
  void lost(const FlowTuple& tuple, bool syn, std::uint64_t packet);
  [[nodiscard]] const AuditReport& report() const { return report_; }

 private:
  struct Connection {
    BackendId home{};
    bool broken = false;
  };
  void broke(const FlowTuple& tuple, Connection& connection, std::uint64_t packet, BackendId reached);

  std::map<FlowTuple, Connection> connections_;
  AuditReport report_;
};

}  // namespace guideway
