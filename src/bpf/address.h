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
