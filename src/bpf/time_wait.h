/* time_wait: whether a packet belongs to the connection that a TIME_WAIT socket remembers.
 * What: compares its numbers with those the connection ended at.
 * Why:  a client port may be used again within the minute. The new connection is then another backend's, and the
 *       TIME_WAIT socket here would swallow its packets: it answers them with an ACK of the old connection, for
 *       ever.
 * How:  an old packet lies at most a window in front of where either side ended. In TIME_WAIT nothing may follow
 *       that; but the kernel keeps an orphan in FIN_WAIT2 in the same structure, and there the client may still
 *       send a window more, which the kernel has to reset. So a FIN, a keep-alive, an ACK or a RST sent again is
 *       taken. A RST without ACK is known by its sequence number alone. Both numbers of a new connection lie in
 *       the old one's windows by chance once in some 2^30 (windows of 128 KiB).
 * Not:  time stamps: a client's clock goes on from one connection to the next, so that they tell nothing. SYNs,
 *       which every backend takes. ICMP errors: a TIME_WAIT socket has no use for any. */
#pragma once

#include <linux/tcp.h>

#include "packet.h"

#ifdef GW_KERNEL_TYPES
/* The kernel's structures as far as they are read; their layout comes from the running kernel's BTF. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock_common {
  __u32 skc_tw_rcv_nxt; /* the next byte that the client may send */
  __u32 skc_tw_snd_nxt; /* behind our FIN, which the client has acknowledged */
};

struct inet_timewait_sock {
  struct sock_common __tw_common;
  unsigned char tw_substate; /* TIME_WAIT or FIN_WAIT2 */
};

struct tcp_timewait_sock {
  struct inet_timewait_sock tw_sk;
  __u32 tw_rcv_wnd; /* bytes that the client was allowed to send when the connection ended */
};
#pragma clang attribute pop

#define TIME_WAIT_REACH_MIN 65536u /* bytes; what is in flight may have been sent into a larger window */

static __always_inline bool lies_between(__u32 number, __u32 first, __u32 last) {
  return number - first <= last - first; /* in sequence space, which wraps */
}
#endif

/* Of a newer connection than the socket's. Always false in the object without kernel types. */
static __always_inline bool is_after_time_wait(struct bpf_sock* sk, const struct tcphdr* tcp) {
#ifdef GW_KERNEL_TYPES
  const struct tcp_timewait_sock* old = (void*)bpf_skc_to_tcp_timewait_sock(sk);
  if (!old) return false;
  const __u32 window = old->tw_rcv_wnd;
  const __u32 reach = window > TIME_WAIT_REACH_MIN ? window : TIME_WAIT_REACH_MIN;
  const __u32 theirs = old->tw_sk.__tw_common.skc_tw_rcv_nxt, ours = old->tw_sk.__tw_common.skc_tw_snd_nxt;
  const __u32 to_come = old->tw_sk.tw_substate == BPF_TCP_FIN_WAIT2 ? window : 0;
  if (!lies_between(bpf_ntohl(tcp->seq), theirs - reach, theirs + to_come)) return true;
  return tcp->ack && !lies_between(bpf_ntohl(tcp->ack_seq), ours - reach, ours);
#else
  return false;
#endif
}
