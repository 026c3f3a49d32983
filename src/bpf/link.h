/* link: Ethernet with up to two VLAN tags.
 * Not:  802.3 lengths, MPLS, PPPoE: what they carry is the kernel's. */
#pragma once

#include <linux/if_ether.h>

#include "packet.h"

struct vlan_tag {
  __be16 control;
  __be16 type;
};

/* Length of the link header << 16 | type behind it, as it lies in memory; 0 if the frame is cut within.
 * A global function: the verifier looks at it once and knows nothing of its result, instead of going through all the
 * rest for each of the three lengths. */
__noinline __u32 link_header(struct xdp_md* ctx) {
  const struct packet p = packet_of(ctx);
  const struct ethhdr* ethernet = at(&p, 0, sizeof(*ethernet));
  if (!ethernet) return 0;
  __u32 length = sizeof(*ethernet);
  __be16 type = ethernet->h_proto;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) break;
    const struct vlan_tag* tag = at(&p, length, sizeof(*tag));
    if (!tag) return 0;
    type = tag->type;
    length += sizeof(*tag);
  }
  return length << 16 | type;
}
