/* deliver: take the outer headers off.
 * What: merges congestion marks (RFC 6040), moves the link header up to the inner packet, and moves the start of
 *       the frame there. */
#pragma once

#include "checksum.h"
#include "inner.h"

/* Outer congestion on a packet that cannot carry the mark was dropped before (inner.h). */
static __always_inline __u8 merged_ecn(__u8 outer, __u8 inner) {
  if (outer == ECN_CE) return ECN_CE;
  return outer == ECN_ECT1 && inner == ECN_ECT0 ? ECN_ECT1 : inner;
}

static __always_inline void merge_ecn(const struct packet* p, const struct tunnel* t) {
  if (t->ecn != ECN_CE && t->ecn != ECN_ECT1) return;
  if (t->inner_v6) {
    struct ipv6hdr* ip = at(p, t->inner, sizeof(*ip));
    if (!ip) return;
    const __u8 mark = merged_ecn(t->ecn, (ip->flow_lbl[0] >> 4) & 3);
    ip->flow_lbl[0] = (ip->flow_lbl[0] & 0xcf) | (__u8)(mark << 4);
    return;
  }
  struct iphdr* ip = at(p, t->inner, sizeof(*ip));
  if (!ip) return;
  const __u8 before = ip->tos, after = (before & 0xfc) | merged_ecn(t->ecn, before & 3);
  ip->tos = after;
  /* tos is the low byte of the header's first 16-bit word. */
  ip->check = checksum_patch(ip->check, bpf_htons(before), bpf_htons(after));
}

static __always_inline bool move_link_header(const struct packet* p, __u64 to, const __u64 length,
                                             __be16 type) {
  __u8 header[22];
  void* from = at(p, 0, length);
  void* into = at(p, to, length);
  if (!from || !into) return false;
  __builtin_memcpy(header, from, length);
  __builtin_memcpy(header + length - sizeof(type), &type, sizeof(type));
  __builtin_memcpy(into, header, length);
  return true;
}

static __always_inline int deliver(struct xdp_md* ctx, const struct packet* p, const struct tunnel* t,
                                   struct gw_counters* c) {
  merge_ecn(p, t);
  const __be16 type = t->inner_v6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
  const __u32 by = t->inner - t->outer;
  bool moved;
  if (t->outer == 14)
    moved = move_link_header(p, by, 14, type);
  else if (t->outer == 18)
    moved = move_link_header(p, by, 18, type);
  else
    moved = move_link_header(p, by, 22, type);
  if (!moved || bpf_xdp_adjust_head(ctx, (int)by)) {
    c->fail_no_room++;
    return XDP_DROP;
  }
  if (t->encapsulation == GUE)
    c->of_gue++;
  else if (t->encapsulation == GRE)
    c->of_gre++;
  else
    c->of_ipip++;
  return XDP_PASS;
}
