/* tunnel: the outer headers, from Ethernet to the start of the inner packet.
 * What: Ethernet with up to two VLAN tags; outer IPv4 or IPv6; GUE with its list of hops, IP in IP, plain GRE.
 * Why:  a frame is ours only if the protocol, the addresses and the lists agree; all else is left alone.
 * Not:  the inner packet (inner.h). */
#pragma once

#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "link.h"
#include "lists.h"

enum verdict {
  GO_ON,       /* no decision yet */
  LEAVE_ALONE, /* not ours: the kernel gets the frame as it came */
  DROP,
  DELIVER, /* take the outer headers off */
  FORWARD, /* to the next hop */
};

enum encapsulation { GUE, IPIP, GRE };

enum { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

/* All offsets from the start of the frame. */
struct tunnel {
  __u32 outer; /* = length of the link header: 14, 18 or 22 */
  __u32 shim;  /* UDP or GRE header; where there is none, the inner packet */
  __u32 inner;
  __u32 outer_end; /* as the outer header tells */
  enum encapsulation encapsulation;
  __u8 protocol; /* of the outer header; later IPPROTO_IPIP or IPPROTO_IPV6: what is inside */
  bool outer_v6;
  bool inner_v6;
  bool fragment;
  __u8 ecn; /* of the outer header */
  __u8 hop_count;
  __u8 hop_index; /* of the next hop */
  struct gw_address source;
  struct gw_address destination;
};

struct gue_header {
  __u8 version_length; /* version 2 bits, control 1 bit, length of what follows in units of 4 bytes 5 bits */
  __u8 protocol;
  __be16 flags;
};

/* The private field of GUE that carries hops; they follow it. */
struct hop_list {
  __be16 type; /* 0: 4-byte hops, 1: 16-byte hops */
  __u8 index;
  __u8 count;
};

struct gre_header {
  __be16 flags_version;
  __be16 type;
};

static __always_inline bool outer_v4(const struct packet* p, struct tunnel* t) {
  const struct iphdr* ip = at(p, t->outer, sizeof(*ip));
  if (!ip || ip->version != 4 || ip->ihl < 5) return false;
  t->outer_v6 = false;
  t->protocol = ip->protocol;
  t->ecn = ip->tos & 3;
  t->fragment = ip->frag_off & bpf_htons(0x3fff);
  t->source = address_v4(ip->saddr);
  t->destination = address_v4(ip->daddr);
  t->shim = t->outer + ip->ihl * 4;
  t->outer_end = t->outer + bpf_ntohs(ip->tot_len);
  return true;
}

static __always_inline bool outer_v6(const struct packet* p, struct tunnel* t) {
  const struct ipv6hdr* ip = at(p, t->outer, sizeof(*ip));
  if (!ip || ip->version != 6) return false;
  t->outer_v6 = true;
  t->protocol = ip->nexthdr;
  t->ecn = (ip->flow_lbl[0] >> 4) & 3;
  t->fragment = false;
  t->source = address_v6(&ip->saddr);
  t->destination = address_v6(&ip->daddr);
  t->shim = t->outer + sizeof(*ip);
  t->outer_end = t->shim + bpf_ntohs(ip->payload_len);
  return true;
}

/* Whether the frame is of a tunnel protocol at all; what most traffic ends at. */
static __always_inline bool is_wrapped(const struct packet* p, const struct tunnel* t) {
  if (t->protocol == IPPROTO_IPIP || t->protocol == IPPROTO_IPV6 || t->protocol == IPPROTO_GRE) return true;
  if (t->protocol != IPPROTO_UDP) return false;
  if (t->fragment) return true; /* a later fragment has no ports */
  const struct udphdr* udp = at(p, t->shim, sizeof(*udp));
  return udp && udp->dest == config.udp_port_be;
}

static __always_inline enum verdict check_ends(const struct tunnel* t, struct gw_counters* c) {
  if (!is_local(&t->destination, t->outer_v6)) {
    /* Fragments of plain UDP come this way as well; only what a director sent is worth a count. */
    if (!t->fragment) c->pass_not_local++;
    return LEAVE_ALONE;
  }
  if (!roles_of(&t->source, t->outer_v6)) {
    if (!t->fragment) c->pass_foreign_source++;
    return LEAVE_ALONE;
  }
  if (t->fragment) {
    c->pass_outer_fragment++;
    return LEAVE_ALONE;
  }
  return GO_ON;
}

static __always_inline enum verdict open_gue(const struct packet* p, struct tunnel* t,
                                             struct gw_counters* c) {
  const __u32 offset = t->shim + sizeof(struct udphdr);
  const struct gue_header* gue = at(p, offset, sizeof(*gue));
  if (!gue) goto malformed;
  const __u32 length = gue->version_length & 0x1f;
  if (gue->version_length & 0xe0 || gue->flags) goto malformed;
  t->encapsulation = GUE;
  t->protocol = gue->protocol;
  t->inner = offset + sizeof(*gue) + length * 4;
  if (length == 0) return GO_ON;

  const struct hop_list* hops = at(p, offset + sizeof(*gue), sizeof(*hops));
  if (!hops || hops->type != (t->outer_v6 ? bpf_htons(1) : 0)) goto malformed;
  if (length != 1 + hops->count * (t->outer_v6 ? 4u : 1u)) goto malformed;
  t->hop_count = hops->count;
  t->hop_index = hops->index;
  return GO_ON;

malformed:
  c->drop_malformed++;
  return DROP;
}

static __always_inline enum verdict open_gre(const struct packet* p, struct tunnel* t,
                                             struct gw_counters* c) {
  const struct gre_header* gre = at(p, t->shim, sizeof(*gre));
  if (!gre) {
    c->drop_malformed++;
    return DROP;
  }
  if (gre->flags_version == 0 && gre->type == bpf_htons(ETH_P_IP)) {
    t->protocol = IPPROTO_IPIP;
  } else if (gre->flags_version == 0 && gre->type == bpf_htons(ETH_P_IPV6)) {
    t->protocol = IPPROTO_IPV6;
  } else {
    c->pass_other_tunnel++; /* keys, checksums, other payloads: a tunnel of the host's own */
    return LEAVE_ALONE;
  }
  t->encapsulation = GRE;
  t->inner = t->shim + sizeof(*gre);
  return GO_ON;
}

static __always_inline enum verdict open_tunnel(const struct packet* p, struct tunnel* t,
                                                struct gw_counters* c) {
  enum verdict v = GO_ON;
  t->hop_count = t->hop_index = 0;
  if (t->protocol == IPPROTO_UDP) {
    v = open_gue(p, t, c);
  } else if (t->protocol == IPPROTO_GRE) {
    v = open_gre(p, t, c);
  } else {
    t->encapsulation = IPIP;
    t->inner = t->shim;
  }
  if (v != GO_ON) return v;
  t->inner_v6 = t->protocol == IPPROTO_IPV6;
  if (!t->inner_v6 && t->protocol != IPPROTO_IPIP) {
    c->drop_malformed++;
    return DROP;
  }
  return GO_ON;
}

static __always_inline void* hops_of(const struct packet* p, const struct tunnel* t) {
  return at(p, t->shim + sizeof(struct udphdr) + sizeof(struct gue_header), sizeof(struct hop_list));
}

/* The address of the next hop; t->hop_index must be below t->hop_count. */
static __always_inline bool next_hop(const struct packet* p, const struct tunnel* t, struct gw_address* hop) {
  __u32 offset = t->shim + sizeof(struct udphdr) + sizeof(struct gue_header) + sizeof(struct hop_list);
  if (t->outer_v6) {
    const void* bytes = at(p, offset + t->hop_index * 16u, 16);
    if (!bytes) return false;
    *hop = address_v6(bytes);
  } else {
    const __be32* address = at(p, offset + t->hop_index * 4u, 4);
    if (!address) return false;
    *hop = address_v4(*address);
  }
  return true;
}
