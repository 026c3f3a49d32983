// Audit: whether each packet of a TCP connection reaches a backend that knows the connection.
// What: every backend modelled with its second chance (design section 8): a SYN is accepted where it arrives and
//       makes a connection there; another packet is accepted by the first hop that knows its connection, else it
//       goes on to the next one, and the last hop takes it whatever it knows. Taken by one that does not know it:
//       the connection is broken. A backend that is down is a dead server: it swallows what it is sent, and its own
//       connections are lost with it, which no director can help; they are counted apart.
// Why:  a drain or a deal that loses no packet can still break connections; only who knows what tells.
// Not:  sequence numbers, SYN cookies, the servers' side. A connection that began before the capture belongs to
//       the hop that its first packet here was sent to.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "guideway/flow.h"
#include "snapshot/ids.h"
#include "snapshot/verdict.h"

namespace guideway {

// What a packet's verdict means for its connection.
enum class Fate : std::uint8_t {
  reaches_a_backend,
  lost_on_the_way,    // this packet alone: TCP sends it again, or smaller ones
  reaches_no_backend  // nobody serves its connection any more
};
[[nodiscard]] Fate fate_of(Verdict verdict);

struct BrokenFlow {
  FlowTuple tuple;
  std::uint64_t packet = 0;                // number in the capture, counted from 0, at which it broke
  BackendId knew{}, reached = no_backend;  // no_backend: it reached none at all
};

struct AuditReport {
  std::uint64_t flows = 0;         // TCP connections; a SYN on a known tuple to another backend is a new one
  std::uint64_t began_before = 0;  // of these, without a SYN in the capture
  std::uint64_t broken = 0;
  std::uint64_t lost_with_backend = 0;  // their backend was down when a packet of theirs came
  std::uint64_t packets_passed_on = 0;  // accepted by the second or third hop
  std::uint64_t packets_swallowed =
      0;  // sent to a backend that was down, by the director or by a hop before it
  std::vector<BrokenFlow> first_broken;  // at most `listed_max`
  static constexpr std::size_t listed_max = 100;
};

class Audit {
 public:
  // Who is down from here on.
  void set_down(std::set<BackendId> down) { down_ = std::move(down); }
  // A packet that was forwarded, with the backends that it names, at least one.
  void forwarded(const FlowTuple& tuple, bool syn, std::uint64_t packet, std::span<const BackendId> hops);
  // A packet that went to no backend although it looked like one of a connection.
  void lost(const FlowTuple& tuple, bool syn, std::uint64_t packet);
  [[nodiscard]] const AuditReport& report() const { return report_; }

 private:
  struct Connection {
    BackendId home{};
    bool over = false;  // broken or lost; it counts once
  };
  [[nodiscard]] bool is_down(BackendId backend) const { return down_.contains(backend); }
  // A packet that no backend took which knows its connection.
  void missed(const FlowTuple& tuple, Connection& connection, std::uint64_t packet, BackendId reached);

  std::set<BackendId> down_;
  std::map<FlowTuple, Connection> connections_;
  AuditReport report_;
};

}  // namespace guideway
