/* checksum: RFC 1624, a one's complement sum after words changed.
 * Words are taken as they lie in memory: the sum does not care about byte order. */
#pragma once

#include <linux/types.h>

static __always_inline __u16 checksum_patch(__u16 sum, __u32 removed, __u32 added) {
  removed = ~removed;
  __u32 s = (__u16)~sum + (removed & 0xffff) + (removed >> 16) + (added & 0xffff) + (added >> 16);
  s = (s & 0xffff) + (s >> 16);
  s = (s & 0xffff) + (s >> 16);
  return (__u16)~s;
}
