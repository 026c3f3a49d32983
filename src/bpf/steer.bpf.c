/* steer: which frames of a NIC go to the director's AF_XDP sockets.
 * What: everything to a service address - any protocol, any port, fragments and ICMP errors too - to the socket of the
 *       queue it came in at; the rest to the kernel, so that SSH, routing and health checks of the host go on.
 * Why:  the address decides and nothing else: a later fragment has no ports, an ICMP error carries its flow inside.
 *       Which ports are served is known behind the socket.
 * Maps: xsks_map, filled by DPDK (its xdp_prog option wants this name); gw_services and gw_steering, filled by the
 *       director, which finds them by way of the interface; gw_steered, counters.
 * Cost: a look-up in a trie, about 50 ns.
 * Not:  the VIP on the kernel: with no socket at the queue a packet for it is dropped, since the kernel would answer
 *       IPv6 with "no route", which ends connections, where a restart only costs a retransmission. */
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "address.h"
#include "link.h"

#define QUEUES_MAX 128

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(max_entries, QUEUES_MAX);
  __type(key, __u32);
  __type(value, __u32);
} xsks_map SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(max_entries, 65536);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct gw_prefix);
  __type(value, __u32);
} gw_services SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct gw_steering);
} gw_steering SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct gw_steered);
} gw_steered SEC(".maps");

struct arp_ipv4 {
  __be16 hardware, protocol;
  __u8 hardware_size, protocol_size;
  __be16 operation;
  __u8 sender_mac[6], sender[4], target_mac[6], target[4];
};

struct neighbour_solicitation {
  __u8 type, code;
  __be16 checksum;
  __u32 reserved;
  __u8 target[16];
};

enum { ARP_REQUEST = 1, ND_FIRST = 133, ND_SOLICITATION = 135, ND_LAST = 137 };

static __always_inline bool is_service(struct gw_address address, bool v6) {
  struct gw_prefix key = {128, address};
  if (poses_as_v4(&address, v6)) return false;
  const __u32* family = bpf_map_lookup_elem(&gw_services, &key);
  return family && *family == (v6 ? GW_IPV6 : GW_IPV4);
}

static __always_inline bool takes_neighbours(void) {
  __u32 zero = 0;
  const struct gw_steering* steering = bpf_map_lookup_elem(&gw_steering, &zero);
  return steering && steering->neighbours;
}

static __always_inline bool is_ours_arp(const struct packet* p, __u32 offset) {
  const struct arp_ipv4* arp = at(p, offset, sizeof(*arp));
  if (!arp || arp->operation != bpf_htons(ARP_REQUEST) || arp->protocol != bpf_htons(ETH_P_IP)) return false;
  __be32 target;
  __builtin_memcpy(&target, arp->target, sizeof(target));
  return takes_neighbours() && is_service(address_v4(target), false);
}

static __always_inline bool is_ours_v4(const struct packet* p, __u32 offset) {
  const struct iphdr* ip = at(p, offset, sizeof(*ip));
  return ip && is_service(address_v4(ip->daddr), false);
}

static __always_inline bool is_ours_v6(const struct packet* p, __u32 offset) {
  const struct ipv6hdr* ip = at(p, offset, sizeof(*ip));
  if (!ip) return false;
  if (ip->nexthdr == IPPROTO_ICMPV6) {
    const struct neighbour_solicitation* nd = at(p, offset + sizeof(*ip), sizeof(*nd));
    if (nd && nd->type >= ND_FIRST && nd->type <= ND_LAST)
      return nd->type == ND_SOLICITATION && takes_neighbours() && is_service(address_v6(nd->target), true);
  }
  return is_service(address_v6(&ip->daddr), true);
}

SEC("xdp")
int steer(struct xdp_md* ctx) {
  const struct packet p = packet_of(ctx);
  const __u32 link = link_header(ctx), offset = link >> 16;
  const __be16 type = (__be16)link;
  bool ours = false;
  if (type == bpf_htons(ETH_P_IP))
    ours = is_ours_v4(&p, offset);
  else if (type == bpf_htons(ETH_P_IPV6))
    ours = is_ours_v6(&p, offset);
  else if (type == bpf_htons(ETH_P_ARP))
    ours = is_ours_arp(&p, offset);

  __u32 zero = 0, queue = ctx->rx_queue_index;
  struct gw_steered* count = bpf_map_lookup_elem(&gw_steered, &zero);
  if (!count) return XDP_PASS;
  if (!ours) {
    count->to_kernel++;
    return XDP_PASS;
  }
  if (!bpf_map_lookup_elem(&xsks_map, &queue)) {
    count->drop_no_socket++;
    return XDP_DROP;
  }
  count->to_socket++;
  return (int)bpf_redirect_map(&xsks_map, queue, XDP_DROP);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
