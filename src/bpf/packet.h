/* packet: bounded access to a frame.
 * What: at() turns an offset into a pointer that the verifier accepts, or NULL past the end.
 * Why:  kernel 5.10 forgets the bounds of scalars it spilled; the mask in assembly is a bound it cannot lose and
 *       the compiler cannot drop. Offsets stay scalars, since clang reorders arithmetic on packet pointers into
 *       forms that the verifier refuses.
 * Not:  parsing (tunnel.h, inner.h). */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define PACKET_REACH 0x3ff /* headers further in than this are not looked at */

struct packet {
  void* data;
  void* end;
};

static __always_inline struct packet packet_of(struct xdp_md* ctx) {
  struct packet p = {(void*)(long)ctx->data, (void*)(long)ctx->data_end};
  return p;
}

/* size must be a constant of at most 64. */
static __always_inline void* at(const struct packet* p, __u64 offset, __u64 size) {
  if (offset > PACKET_REACH - 64) return NULL;
  asm volatile("%0 &= 0x3ff" : "+r"(offset));
  void* start = p->data + offset;
  return start + size > p->end ? NULL : start;
}
