/* address: addresses from a packet as keys of the maps. */
#pragma once

#include "abi.h"
#include "packet.h"

static __always_inline struct gw_address address_v4(__be32 address) {
  struct gw_address out = {{0, 0, bpf_htonl(0xffff), address}};
  return out;
}

static __always_inline struct gw_address address_v6(const void* bytes) {
  struct gw_address out;
  __builtin_memcpy(&out, bytes, sizeof(out));
  return out;
}

/* Whether an IPv6 address from the wire has the form that stands for an IPv4 one in the maps. No honest packet has such
 * an address (RFC 4942, 2.2); looked up, it would pass for a director or a peer that has the IPv4 one. */
static __always_inline bool poses_as_v4(const struct gw_address* address, bool v6) {
  return v6 && !address->words_be[0] && !address->words_be[1] && address->words_be[2] == bpf_htonl(0xffff);
}
