/* second_chance: whether a TCP packet belongs to this host or to the next hop.
 * What: looks the flow up among the kernel's sockets and decides: deliver here, or send on.
 * Why:  after a change of the pool a flow's packets first reach its new backend; the one that holds the connection
 *       is named among the hops. Only a backend can tell whether a connection is its own.
 * How:  bpf_skc_lookup_tcp, since bpf_sk_lookup_tcp misses TIME_WAIT and shows a half-open connection as its
 *       listener. sk->family is never asked: it is IPv6 for an IPv4 flow of a dual-stack socket.
 * Not:  UDP and echo requests, which every backend takes. */
#pragma once

#include <linux/tcp.h>

#include "inner.h"
#include "time_wait.h"

/* States of a socket that are not in the API's headers under these names (include/net/tcp_states.h). */
enum {
  SOCKET_TIME_WAIT = BPF_TCP_TIME_WAIT,
  SOCKET_LISTEN = BPF_TCP_LISTEN,
  SOCKET_NEW_SYN_RECV = BPF_TCP_NEW_SYN_RECV
};

#ifdef GW_KERNEL_TYPES
/* As far as it is read; the layout comes from the running kernel's BTF. */
struct tcp_request_sock {
  __u32 snt_isn;
} __attribute__((preserve_access_index));
#endif

/* A half-open connection of another backend: a SYN sent twice, with a change in between, leaves two backends with
 * half a connection each. Only the one whose SYN-ACK the client took may get the ACK; the other would reset it. */
static __always_inline bool is_alien_handshake(struct bpf_sock* sk, const struct tcphdr* tcp) {
#ifdef GW_KERNEL_TYPES
  if (!tcp->ack || tcp->rst) return false;
  const struct tcp_request_sock* request = (void*)bpf_skc_to_tcp_request_sock(sk);
  return request && request->snt_isn + 1 != bpf_ntohl(tcp->ack_seq);
#else
  return false;
#endif
}

static __always_inline struct bpf_sock* find_socket(struct xdp_md* ctx, struct bpf_sock_tuple* tuple,
                                                    bool v6) {
  if (v6) return bpf_skc_lookup_tcp(ctx, tuple, sizeof(tuple->ipv6), BPF_F_CURRENT_NETNS, 0);
  return bpf_skc_lookup_tcp(ctx, tuple, sizeof(tuple->ipv4), BPF_F_CURRENT_NETNS, 0);
}

static __always_inline bool has_valid_cookie(struct bpf_sock* sk, const struct packet* p,
                                             const struct tunnel* t, struct tcphdr* tcp) {
  if (!tcp->ack || tcp->syn || tcp->rst || tcp->fin) return false;
  /* Constant sizes: the verifier of old kernels wants them. */
  if (t->inner_v6) {
    struct ipv6hdr* ip = at(p, t->inner, sizeof(*ip));
    return ip && bpf_tcp_check_syncookie(sk, ip, sizeof(*ip), tcp, sizeof(*tcp)) == 0;
  }
  struct iphdr* ip = at(p, t->inner, sizeof(*ip));
  return ip && bpf_tcp_check_syncookie(sk, ip, sizeof(*ip), tcp, sizeof(*tcp)) == 0;
}

/* FORWARD stands for a miss. */
static __always_inline enum verdict look_up_tcp(struct xdp_md* ctx, const struct packet* p,
                                                const struct tunnel* t, const struct inner* in,
                                                struct gw_counters* c) {
  struct tcphdr* tcp = at(p, in->l4, sizeof(*tcp));
  if (!tcp) {
    c->drop_malformed++;
    return DROP;
  }
  if (tcp->syn) {
    c->deliver_syn++;
    return DELIVER;
  }
  struct bpf_sock_tuple tuple = {};
  if (t->inner_v6) {
    const struct ipv6hdr* ip = at(p, t->inner, sizeof(*ip));
    if (!ip) return DROP;
    __builtin_memcpy(tuple.ipv6.saddr, &ip->saddr, 16);
    __builtin_memcpy(tuple.ipv6.daddr, &ip->daddr, 16);
    tuple.ipv6.sport = tcp->source;
    tuple.ipv6.dport = tcp->dest;
  } else {
    const struct iphdr* ip = at(p, t->inner, sizeof(*ip));
    if (!ip) return DROP;
    tuple.ipv4.saddr = ip->saddr;
    tuple.ipv4.daddr = ip->daddr;
    tuple.ipv4.sport = tcp->source;
    tuple.ipv4.dport = tcp->dest;
  }
  struct bpf_sock* sk = find_socket(ctx, &tuple, t->inner_v6);
  if (!sk) return FORWARD;

  enum verdict v = DELIVER;
  switch (sk->state) {
    case SOCKET_LISTEN:
      if (has_valid_cookie(sk, p, t, tcp))
        c->deliver_cookie++;
      else
        v = FORWARD;
      break;
    case SOCKET_NEW_SYN_RECV:
      if (is_alien_handshake(sk, tcp)) {
        c->of_half_open_alien++;
        v = FORWARD;
      } else {
        c->deliver_half_open++;
      }
      break;
    case SOCKET_TIME_WAIT:
      if (is_after_time_wait(sk, tcp)) {
        c->of_time_wait_alien++;
        v = FORWARD;
      } else {
        c->deliver_time_wait++; /* it answers a FIN that was sent again */
      }
      break;
    default:
      c->deliver_established++;
  }
  bpf_sk_release(sk);
  return v;
}

static __always_inline bool is_icmp_error(const struct packet* p, const struct tunnel* t,
                                          const struct inner* in) {
  if (in->protocol != (t->inner_v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP)) return false;
  const __u8* type = at(p, in->l4, 8);
  if (!type) return false;
  return t->inner_v6 ? *type >= 1 && *type <= 4 : *type == 3 || *type == 11 || *type == 12;
}

/* An error quotes the head of a packet from the service address to the client. Its flow, seen from the client, is
 * the quote turned round; false if the quote is not TCP. */
static __always_inline bool quoted_flow(struct xdp_md* ctx, const struct packet* p, const struct tunnel* t,
                                        const struct inner* in, struct bpf_sock_tuple* tuple) {
  const __u32 quote = in->l4 + 8;
  if (t->inner_v6) {
    const struct ipv6hdr* ip = at(p, quote, sizeof(*ip));
    if (!ip || ip->version != 6) return false;
    const __u32 found = walk_extensions(ctx, quote + sizeof(*ip), ip->nexthdr);
    if ((__u8)found != IPPROTO_TCP || found & WALKED_LATER_FRAGMENT) return false;
    const __be16* ports = at(p, found >> 16, 4);
    if (!ports) return false;
    __builtin_memcpy(tuple->ipv6.saddr, &ip->daddr, 16);
    __builtin_memcpy(tuple->ipv6.daddr, &ip->saddr, 16);
    tuple->ipv6.sport = ports[1];
    tuple->ipv6.dport = ports[0];
    return true;
  }
  const struct iphdr* ip = at(p, quote, sizeof(*ip));
  if (!ip || ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_TCP) return false;
  if (ip->frag_off & bpf_htons(0x1fff)) return false;
  const __be16* ports = at(p, quote + ip->ihl * 4, 4);
  if (!ports) return false;
  tuple->ipv4.saddr = ip->daddr;
  tuple->ipv4.daddr = ip->saddr;
  tuple->ipv4.sport = ports[1];
  tuple->ipv4.dport = ports[0];
  return true;
}

static __always_inline enum verdict look_up_quote(struct xdp_md* ctx, const struct packet* p,
                                                  const struct tunnel* t, const struct inner* in,
                                                  struct gw_counters* c) {
  struct bpf_sock_tuple tuple = {};
  if (!quoted_flow(ctx, p, t, in, &tuple)) {
    c->deliver_not_tcp++;
    return DELIVER;
  }
  struct bpf_sock* sk = find_socket(ctx, &tuple, t->inner_v6);
  if (!sk) return FORWARD;
  /* A TIME_WAIT socket does nothing with an error, and a newer connection of the same ports may live elsewhere. */
  const bool found = sk->state != SOCKET_LISTEN && sk->state != SOCKET_TIME_WAIT;
  bpf_sk_release(sk);
  if (!found) return FORWARD;
  c->deliver_icmp_error++;
  return DELIVER;
}

/* Counts its verdict. With FORWARD, *hop is where to. */
static __always_inline enum verdict second_chance(struct xdp_md* ctx, const struct packet* p,
                                                  const struct tunnel* t, const struct inner* in,
                                                  struct gw_address* hop, struct gw_counters* c) {
  if (t->hop_index >= t->hop_count) {
    c->deliver_no_hop++; /* whoever owns the flow, nobody is left to ask: no look-up */
    return DELIVER;
  }
  if (in->fragment) {
    c->deliver_fragment++;
    return DELIVER;
  }
  const bool error = is_icmp_error(p, t, in);
  enum verdict v;
  if (error) {
    v = look_up_quote(ctx, p, t, in, c);
  } else if (in->protocol == IPPROTO_TCP) {
    v = look_up_tcp(ctx, p, t, in, c);
  } else {
    c->deliver_not_tcp++;
    v = DELIVER;
  }
  if (v != FORWARD) return v;

  if (!next_hop(p, t, hop)) {
    c->drop_malformed++;
    return DROP;
  }
  if (is_local(hop, t->outer_v6)) {
    c->deliver_self++;
    return DELIVER;
  }
  if (!(roles_of(hop, t->outer_v6) & GW_ROLE_PEER)) {
    c->deliver_not_peer++;
    return DELIVER;
  }
  if (error)
    c->forward_icmp_error++;
  else
    c->forward_tcp++;
  return FORWARD;
}
