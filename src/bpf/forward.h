/* forward: send a wrapped packet on to the next hop.
 * What: rewrites the outer addresses and the hop index, and leaves a mark in front of the frame; the tc program
 *       sends marked frames through the kernel's neighbour layer.
 * Why:  XDP alone would need net.ipv4.conf.*.forwarding and a neighbour that is resolved already; bpf_redirect_neigh
 *       asks for the neighbour, holds the packet meanwhile, and works on every device.
 * Not:  the TTL is left as it is: the hop index bounds the way. */
#pragma once

#include <linux/pkt_cls.h>

#include "checksum.h"
#include "tunnel.h"

/* Addresses (source, destination) become (destination, hop): in every sum only the source leaves and the hop enters. */
static __always_inline __u16 patch_addresses(__u16 sum, const struct gw_address* removed,
                                             const struct gw_address* added) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sum = checksum_patch(sum, removed->words_be[i], added->words_be[i]);
  return sum;
}

static __always_inline bool rewrite_outer(const struct packet* p, const struct tunnel* t,
                                          const struct gw_address* hop) {
  if (t->outer_v6) {
    struct ipv6hdr* ip = at(p, t->outer, sizeof(*ip));
    if (!ip) return false;
    __builtin_memcpy(&ip->saddr, &t->destination, 16);
    __builtin_memcpy(&ip->daddr, hop, 16);
    return true;
  }
  struct iphdr* ip = at(p, t->outer, sizeof(*ip));
  if (!ip) return false;
  ip->check = checksum_patch(ip->check, ip->saddr, hop->words_be[3]);
  ip->saddr = ip->daddr;
  ip->daddr = hop->words_be[3];
  return true;
}

static __always_inline bool step_hops(const struct packet* p, const struct tunnel* t,
                                      const struct gw_address* hop) {
  struct udphdr* udp = at(p, t->shim, sizeof(*udp));
  struct hop_list* hops = hops_of(p, t);
  if (!udp || !hops) return false;
  const __u16 before = *(__u16*)&hops->index;
  hops->index++;
  if (udp->check) { /* zero: the sender left it out, and so do we */
    __u16 sum = patch_addresses(udp->check, &t->source, hop);
    sum = checksum_patch(sum, before, *(__u16*)&hops->index);
    udp->check = sum ? sum : 0xffff;
  }
  return true;
}

static __always_inline int forward(struct xdp_md* ctx, const struct packet* p, const struct tunnel* t,
                                   const struct gw_address* hop, struct gw_counters* c) {
  if (!rewrite_outer(p, t, hop) || !step_hops(p, t, hop)) {
    c->drop_malformed++;
    return XDP_DROP;
  }
  if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(__u32))) {
    c->fail_no_metadata++;
    return XDP_DROP;
  }
  __u32* mark = (void*)(long)ctx->data_meta;
  if ((void*)(mark + 1) > (void*)(long)ctx->data) {
    c->fail_no_metadata++;
    return XDP_DROP;
  }
  *mark = GW_MARK_SEND_ON;
  return XDP_PASS;
}
