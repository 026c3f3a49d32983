#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "dataplane/stages.h"

namespace guideway::stages {
namespace {

static_assert(outbox_max >= burst_max + further_max, "an outbox has room for all frames of a burst");

// The boxes of ports, or of twins, filled in the order of the burst. How full a box is stands in a register for as many
// frames in a row as go there.
class Boxes {
 public:
  Boxes(std::array<Outbox, ports_max>& boxes, std::uint32_t& filled) : boxes_(boxes), filled_(filled) {}
  ~Boxes() { close(); }
  Boxes(const Boxes&) = delete;
  Boxes& operator=(const Boxes&) = delete;

  void put(std::size_t port, rte_mbuf* frame, std::size_t origin) {
    if (port != port_) [[unlikely]] {
      close();
      port_ = port;
      size_ = boxes_[port].size;
    }
    Outbox& box = boxes_[port];
    box.frames[size_] = frame;
    box.origin[size_++] = static_cast<std::uint8_t>(origin);
  }

 private:
  void close() {
    if (port_ == ports_max) return;
    boxes_[port_].size = size_;
    filled_ |= 1U << port_;
  }
  std::array<Outbox, ports_max>& boxes_;
  std::uint32_t& filled_;
  std::size_t port_ = ports_max;  // of the box that size_ is of; ports_max: none yet
  std::uint16_t size_ = 0;
};

// What is neither sent to a backend nor an answer.
[[gnu::noinline]] void account_rest(const PipelineParts& parts, const Burst& burst, std::size_t i,
                                    Boxes& to_kernel) {
  VerdictCounters& counters = parts.counters.verdicts;
  const Verdict verdict = burst.verdict[i];
  const bool unmatched = burst.service[i] != no_service && burst.parsed[i].kind != PacketKind::icmp &&
                         (verdict == Verdict::kernel || verdict == Verdict::drop_unmatched);
  if (unmatched) parts.counters.service(burst.service[i]).unmatched.add(1);
  if (verdict == Verdict::kernel) to_kernel.put(burst.port, burst.packets[i], i);
  if (verdict == Verdict::held) counters.count(verdict, burst.bytes[i]);
  if (!is_drop(verdict)) return;
  rte_pktmbuf_free(burst.packets[i]);
  counters.count(verdict, burst.bytes[i]);
}

// What nearly every burst comes to: each packet one frame, and all of them by the same port.
bool leaves_whole(const Burst& burst) {
  std::uint64_t verdicts = 0;  // parse has set those behind the last packet, too
  for (std::size_t i = 0; i < burst_max; i += sizeof verdicts) {
    std::uint64_t some;
    std::memcpy(&some, &burst.verdict[i], sizeof some);
    verdicts |= some;
  }
  static_assert(Verdict::forward == Verdict{});
  return verdicts == 0 && std::has_single_bit(burst.egress_ports) && burst.further_count == 0;
}

void put_whole(const Burst& burst, Outputs& out) {
  static constexpr auto places = [] {
    std::array<std::uint8_t, burst_max> in_order{};
    std::iota(in_order.begin(), in_order.end(), std::uint8_t{0});
    return in_order;
  }();
  Outbox& box = out.port[burst.egress[0]];
  std::memcpy(box.frames.data(), burst.packets.data(), sizeof burst.packets);
  std::memcpy(box.origin.data(), places.data(), sizeof places);
  box.size = burst.size;
  box.whole_burst = true;
  out.to_ports |= burst.egress_ports;
}

void put_each(const PipelineParts& parts, const Burst& burst, Outputs& out) {
  Boxes to_ports(out.port, out.to_ports), to_kernel(out.kernel, out.to_kernel);
  std::size_t further = 0;
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward && burst.verdict[i] != Verdict::answer) [[unlikely]] {
      account_rest(parts, burst, i, to_kernel);
      continue;
    }
    to_ports.put(burst.egress[i], burst.packets[i], i);
    // The other pieces of the packet right behind the first one, so that what follows in the flow does not overtake them.
    for (; further < burst.further_count && burst.further_origin[further] == i; ++further)
      to_ports.put(burst.egress[i], burst.further[further], i);
  }
}

}  // namespace

void account(const PipelineParts& parts, const Burst& burst, Outputs& out) {
  if (leaves_whole(burst)) [[likely]] {
    put_whole(burst, out);
  } else {
    put_each(parts, burst, out);
  }
  if (burst.readmitted) return;
  VerdictCounters& counters = parts.counters.verdicts;
  counters.packets_in.add(burst.size);
  counters.bytes_in.add(burst.bytes_in);
}

}  // namespace guideway::stages
