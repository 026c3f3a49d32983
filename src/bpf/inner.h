/* inner: the packet inside, as far as the second chance needs it.
 * What: checks its header against the tunnel's, finds its destination among the services and its L4 header.
 * Not:  validation of the rest; the kernel's stack does that after the outer headers are off. */
#pragma once

#include "net/extension_headers.h"
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

/* What the walk over IPv6 extension headers answers: the offset where it ends << 16 | these | the protocol there. */
enum {
  WALKED_FRAGMENT = 0x100,       /* a fragment, the first one too */
  WALKED_LATER_FRAGMENT = 0x200, /* one that does not begin with the L4 header */
};

/* It stops at the first header that is no extension, and at one that lies too far in. A global function, as
 * link_header is. */
__noinline __u32 walk_extensions(struct xdp_md* ctx, __u32 offset, __u32 protocol) {
  const struct packet p = packet_of(ctx);
  __u32 fragment = 0; /* offset << 3 | more to come */
  protocol &= 0xff;
#pragma unroll
  for (int i = 0; i < GW_EXTENSION_HEADERS_MAX; ++i) {
    if (protocol != IPPROTO_HOPOPTS && protocol != IPPROTO_ROUTING && protocol != IPPROTO_DSTOPTS &&
        protocol != IPPROTO_FRAGMENT)
      break;
    const struct extension* extension = at(&p, offset, sizeof(*extension));
    if (!extension) break;
    if (protocol == IPPROTO_FRAGMENT) {
      fragment |= bpf_ntohs(extension->fragment_offset) & 0xfff9;
      offset += 8;
    } else {
      offset += (extension->length + 1u) * 8;
    }
    protocol = extension->next;
  }
  return offset << 16 | (fragment ? WALKED_FRAGMENT : 0) | (fragment > 1 ? WALKED_LATER_FRAGMENT : 0) |
         protocol;
}

static __always_inline enum verdict open_inner(struct xdp_md* ctx, const struct packet* p,
                                               const struct tunnel* t, struct inner* in,
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
  if (!is_service(&destination, t->inner_v6)) {
    c->pass_not_service++;
    return LEAVE_ALONE;
  }
  if (t->ecn == ECN_CE && ecn == ECN_NOT_ECT) {
    c->drop_ecn++; /* RFC 6040: the sender of this packet would never hear of the congestion */
    return DROP;
  }
  if (t->inner_v6) {
    const __u32 found = walk_extensions(ctx, in->l4, in->protocol);
    in->l4 = found >> 16;
    in->fragment = found & WALKED_FRAGMENT;
    in->protocol = (__u8)found;
  }
  return GO_ON;

malformed:
  c->drop_malformed++;
  return DROP;
}
