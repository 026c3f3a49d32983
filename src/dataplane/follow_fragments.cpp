#include <bit>

#include "dataplane/key_bytes.h"
#include "dataplane/stages.h"
#include "net/protocols.h"

namespace guideway::stages {
namespace {

bool is_icmp(const Packet& packet) {
  return packet.protocol == (packet.family == Family::ipv4 ? net::protocol_icmp : net::protocol_icmpv6);
}

// The fragment becomes a packet of its flow, with the ports that its first one has shown.
void become(Packet& packet, KeyBytes& key, const std::uint8_t* ip, const Leader& leader) {
  packet.protocol = leader.protocol;
  packet.source_port = leader.source_port;
  packet.destination_port = leader.destination_port;
  if (packet.protocol == net::protocol_tcp) packet.kind = PacketKind::tcp;
  if (packet.protocol == net::protocol_udp) packet.kind = PacketKind::udp;
  write_key(key, packet.family, net::source_address(ip, packet.family),
            net::destination_address(ip, packet.family), packet.source_port, packet.destination_port,
            packet.protocol);
}

// What is known of the first fragment here or, for packets that RSS spread over workers, elsewhere.
Leader find_leader(const PipelineParts& parts, DatagramIndex datagram, std::uint64_t key,
                   std::uint32_t now_ms) {
  FragmentTable& own = parts.flows.fragments;
  Leader leader = own.leader(datagram);
  if (leader.fate != Leader::Fate::unknown) return leader;
  const auto found = leader_elsewhere(parts, key, now_ms);
  if (!found) return leader;
  own.decide(datagram, *found, parts.counters.verdicts);
  return *found;
}

Verdict follow(const PipelineParts& parts, std::uint32_t now_ms, Burst& burst, std::size_t i,
               const std::uint8_t* ip) {
  FragmentTable& table = parts.flows.fragments;
  VerdictCounters& counters = parts.counters.verdicts;
  Packet& packet = burst.parsed[i];
  const std::uint64_t key = table.key_of(ip, packet);
  const DatagramIndex datagram = table.find_or_make(key, now_ms, counters);
  if (!burst.readmitted) {
    const auto added = table.add(datagram, packet, now_ms, counters);
    if (added == ByteRanges::Added::full) return Verdict::drop_fragment;
    if (added != ByteRanges::Added::fresh) return Verdict::drop_fragment_overlap;
  }
  const Leader leader = find_leader(parts, datagram, key, now_ms);
  if (leader.fate == Leader::Fate::dropped) return Verdict::drop_fragment;
  if (packet.fragment_offset == 0) {
    burst.datagram[i] = datagram;
    become(packet, burst.key[i], ip,
           {.protocol = packet.protocol,
            .source_port = packet.source_port,
            .destination_port = packet.destination_port});
    return Verdict::forward;
  }
  if (leader.fate == Leader::Fate::unknown)
    return table.hold(datagram, burst.packets[i], burst.port, now_ms, counters) ? Verdict::held
                                                                                : Verdict::drop_fragment;
  if (leader.fate == Leader::Fate::kernel) return Verdict::kernel;
  burst.leader[i] = leader.backend;
  become(packet, burst.key[i], ip, leader);
  return Verdict::forward;
}

}  // namespace

std::optional<Leader> leader_elsewhere(const PipelineParts& parts, std::uint64_t key, std::uint32_t now_ms) {
  for (const FlowState* peer : parts.peers)
    if (const auto leader = peer->fragments.leader_of(key, now_ms)) return leader;
  return std::nullopt;
}

void follow_fragments(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms,
                      Burst& burst) {
  for (std::uint32_t left = burst.fragments; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    burst.datagram[i] = no_datagram;
    burst.leader[i] = no_backend;
    const Packet& packet = burst.parsed[i];
    // ICMP is judged by its address alone, and what lies about itself is dropped where it is to a service.
    if (is_icmp(packet) || packet.l4 != Verdict::forward) continue;
    const auto* ip = rte_pktmbuf_mtod_offset(burst.packets[i], const std::uint8_t*, packet.ip_offset);
    const auto match =
        snapshot.lookup.find_address(packet.family, net::destination_address(ip, packet.family));
    if (match.kind == ServiceMatch::Kind::not_ours) continue;
    burst.verdict[i] = follow(parts, now_ms, burst, i, ip);
  }
}

void lead_fragments(const PipelineParts& parts, Burst& burst) {
  for (std::uint32_t left = burst.fragments; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.datagram[i] == no_datagram) continue;
    const Packet& packet = burst.parsed[i];
    Leader leader{.fate = Leader::Fate::dropped,
                  .protocol = packet.protocol,
                  .source_port = packet.source_port,
                  .destination_port = packet.destination_port};
    if (burst.verdict[i] == Verdict::kernel) leader.fate = Leader::Fate::kernel;
    if (burst.verdict[i] == Verdict::forward) {
      leader.fate = Leader::Fate::forward;
      leader.backend = burst.pool[i]->backends[burst.hops[i].slot(0)].id;
    }
    parts.flows.fragments.decide(burst.datagram[i], leader, parts.counters.verdicts);
  }
}

}  // namespace guideway::stages
