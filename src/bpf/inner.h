/* inner: the packet inside, as far as the second chance needs it.
 * What: checks its header against the tunnel's, finds its destination among the services and its L4 header.
 * Not:  validation of the rest; the kernel's stack does that after the outer headers are off. */
#pragma once

#include "tunnel.h"

struct inner {
  __u32 l4; /* offset of the L4 header */
  __u8 protocol;
  bool fragment;
};

struct extension {
  __u8 next;
  __u8 length;
  __be16 fragment_offset; /* of a fragment header */
};

#define EXTENSIONS_MAX 6

/* Leaves in->protocol at the first header that is no extension, or at one that lies too far in. */
static __always_inline void walk_extensions(const struct packet* p, struct inner* in) {
#pragma unroll
  for (int i = 0; i < EXTENSIONS_MAX; ++i) {
    const __u8 header = in->protocol;
    if (header != IPPROTO_HOPOPTS && header != IPPROTO_ROUTING && header != IPPROTO_DSTOPTS &&
        header != IPPROTO_FRAGMENT)
      return;
    const struct extension* extension = at(p, in->l4, sizeof(*extension));
    if (!extension) return;
    if (header == IPPROTO_FRAGMENT) {
      if (extension->fragment_offset & bpf_htons(0xfff9)) in->fragment = true;
      in->l4 += 8;
    } else {
      in->l4 += (extension->length + 1u) * 8;
    }
    in->protocol = extension->next;
  }
}

static __always_inline enum verdict open_inner(const struct packet* p, const struct tunnel* t, struct inner* in,
                                               struct gw_counters* c) {
  struct gw_address destination;
  __u32 end;
  __u8 ecn;
  if (t->inner_v6) {
    const struct ipv6hdr* ip = at(p, t->inner, sizeof(*ip));
    if (!ip || ip->version != 6) goto malformed;
    end = t->inner + sizeof(*ip) + bpf_ntohs(ip->payload_len);
    ecn = (ip->flow_lbl[0] >> 4) & 3;
    destination = address_v6(&ip->daddr);
    in->protocol = ip->nexthdr;
    in->fragment = false;
    in->l4 = t->inner + sizeof(*ip);
  } else {
    const struct iphdr* ip = at(p, t->inner, sizeof(*ip));
    if (!ip || ip->version != 4 || ip->ihl < 5) goto malformed;
    end = t->inner + bpf_ntohs(ip->tot_len);
    ecn = ip->tos & 3;
    destination = address_v4(ip->daddr);
    in->protocol = ip->protocol;
    in->fragment = ip->frag_off & bpf_htons(0x3fff);
    in->l4 = t->inner + ip->ihl * 4;
    if (end < in->l4) goto malformed;
  }
  if (end > t->outer_end) goto malformed;
  if (!is_service(&destination)) {
    c->pass_not_service++;
    return LEAVE_ALONE;
  }
  if (t->ecn == ECN_CE && ecn == ECN_NOT_ECT) {
    c->drop_ecn++; /* RFC 6040: the sender of this packet would never hear of the congestion */
    return DROP;
  }
  if (t->inner_v6) walk_extensions(p, in);
  return GO_ON;

malformed:
  c->drop_malformed++;
  return DROP;
}
