// Verdict: what becomes of a packet, chosen once and acted on once.
// What: one enum and its one table of names; counters, metrics, trace, replay's report and the CLI print from
// it. Why:  packets in = forwarded + to kernel + answered + dropped by reason (+ held), over every run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace guideway {

enum class Verdict : std::uint8_t {
  forward,  // wrapped (or L2) and sent to a backend
  kernel,   // not ours: the host's kernel sees it
  answer,   // we reply in place of the packet (echo, too big, ARP)
  held,     // an early fragment, waiting for its first one: how many there are now
  // Every drop has its own reason.
  drop_truncated,            // the capture or the mbuf holds less than the frame said
  drop_other_mac,            // unicast to a MAC that is not the port's
  drop_bad_ip_version,       // version nibble and ethertype disagree
  drop_bad_ip_header,        // IHL < 5, header beyond the frame
  drop_bad_ip_length,        // total or payload length beyond the frame or below the header
  drop_bad_ip_checksum,      // IPv4 header checksum
  drop_ttl_zero,             // TTL or hop limit 0 on arrival
  drop_bad_extension,        // IPv6 extension chain cut, too long or malformed
  drop_bad_l4,               // TCP data offset, UDP length, or a header cut short
  drop_tiny_fragment,        // a first fragment with too little of L4
  drop_fragment,             // a fragment that cannot be matched (expired, no first, table full)
  drop_fragment_overlap,     // overlapping fragments
  drop_loop,                 // already wrapped by a director
  drop_unmatched,            // service address, no such protocol or port, unmatched = "drop"
  drop_icmp_unknown_flow,    // an ICMP error whose quote names no flow of ours
  drop_icmp_malformed,       // an ICMP message cut short, or from an address that nobody can have
  drop_no_backend_syn,       // nobody takes new flows: TCP SYN
  drop_no_backend_udp,       // nobody takes new flows: UDP
  drop_no_backend,           // the row has no hop at all
  drop_too_big,              // wrapped packet beyond the egress MTU, nothing could be answered
  drop_next_hop_unresolved,  // the backend's neighbour has no MAC yet
  drop_port_down,            // the egress link is down
  drop_no_buffer,            // no mbuf, or no headroom could be made
  drop_tx_full,              // the egress queue took no more
  drop_kernel_full,          // the twin took no more this burst
  count_
};

inline constexpr std::size_t verdict_count = static_cast<std::size_t>(Verdict::count_);

inline constexpr std::array<std::string_view, verdict_count> verdict_names = {"forward",
                                                                              "kernel",
                                                                              "answer",
                                                                              "held",
                                                                              "truncated",
                                                                              "other_mac",
                                                                              "bad_ip_version",
                                                                              "bad_ip_header",
                                                                              "bad_ip_length",
                                                                              "bad_ip_checksum",
                                                                              "ttl_zero",
                                                                              "bad_extension",
                                                                              "bad_l4",
                                                                              "tiny_fragment",
                                                                              "fragment",
                                                                              "fragment_overlap",
                                                                              "loop",
                                                                              "unmatched",
                                                                              "icmp_unknown_flow",
                                                                              "icmp_malformed",
                                                                              "no_backend_syn",
                                                                              "no_backend_udp",
                                                                              "no_backend",
                                                                              "too_big",
                                                                              "next_hop_unresolved",
                                                                              "port_down",
                                                                              "no_buffer",
                                                                              "tx_full",
                                                                              "kernel_full"};
static_assert(!verdict_names.back().empty(), "every verdict has a name");

[[nodiscard]] constexpr std::string_view name(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}
[[nodiscard]] constexpr bool is_drop(Verdict verdict) { return verdict >= Verdict::drop_truncated; }

}  // namespace guideway
