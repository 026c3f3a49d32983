/* abi: what the eBPF programs and those who load them agree on.
 * What: keys and values of the maps, the constants set before loading, and the counters; for steer.bpf.o, what the
 *       director and it agree on.
 * Why:  one header read by both sides, C and C++; the skeletons do not carry these types.
 * Not:  the wire (tunnel.h) or how the lists are kept (src/agent/lists.h). */
#pragma once

#include <linux/types.h>

/* An address of either family: IPv4 as ::ffff:a.b.c.d, so that one map holds both. */
struct gw_address {
  __u32 words_be[4];
};

/* Key of a longest-prefix map; an IPv4 prefix of n bits has length 96 + n. */
struct gw_prefix {
  __u32 length;
  struct gw_address address;
};

enum gw_role {
  GW_ROLE_DIRECTOR = 1, /* may be the outer source */
  GW_ROLE_PEER = 2,     /* may be the outer source and the next hop */
};

/* A longest-prefix look-up stops at the best match, so that match must carry what its covering prefixes allow. */
struct gw_sender {
  __u32 roles; /* gw_role bits: own ones and those of all covering prefixes; what the program reads */
  __u32 roles_as_listed; /* gw_role bits as configured for this very prefix */
};

struct gw_config {
  __u16 udp_port_be; /* GUE destination port */
};

/* Which object the program is from, and why. Only the one with kernel types compares sequence numbers of half-open and
 * closed connections. */
enum gw_program_kind {
  GW_PORTABLE_REFUSED = 0,  /* the kernel does not take the other one */
  GW_KERNEL_TYPED = 1,      /* reads the kernel's structures by their types */
  GW_PORTABLE_NO_TYPES = 2, /* the kernel does not tell its types */
};

/* What the agent has to remember between its runs; the programs only hold on to it. */
struct gw_record {
  __u32 version; /* GW_RECORD_VERSION */
  __u16 udp_port;
  __u8 program_kind;   /* gw_program_kind */
  __u8 multi_buffer;   /* 1: the program was loaded for frames of several buffers */
  __u8 clsact_is_our;  /* 1: the agent made the clsact qdisc */
  __u8 local_is_given; /* 1: local addresses were named; 0: taken from the interface */
  __u8 unused[2];
};
#define GW_RECORD_VERSION 2

/* Left in front of the frame by XDP for the tc program: send this one on. */
#define GW_MARK_SEND_ON 0x67777331u

/* Every frame of a tunnel protocol counts under exactly one of pass_, drop_, deliver_ and forward_. */
#define GW_COUNTERS(X)                                                                           \
  X(pass_not_local, "left alone: the outer destination is not an address of this host")          \
  X(pass_foreign_source, "left alone: the outer source is neither director nor peer")            \
  X(pass_outer_fragment, "left alone: a fragment of a wrapped packet")                           \
  X(pass_other_tunnel, "left alone: an encapsulation that is not ours")                          \
  X(pass_not_service, "left alone: the inner destination is no service address")                 \
  X(drop_malformed, "dropped: a wrapped packet whose headers contradict each other")             \
  X(drop_ecn, "dropped: congestion marked outside on a packet that cannot carry the mark")       \
  X(deliver_no_hop, "delivered: this host is the last or the only hop that the packet names")    \
  X(deliver_self, "delivered: the next hop is this host")                                        \
  X(deliver_not_peer, "delivered: the next hop is no allowed peer")                              \
  X(deliver_not_tcp, "delivered: neither TCP nor an error about TCP")                            \
  X(deliver_fragment, "delivered: an inner fragment")                                            \
  X(deliver_syn, "delivered: a SYN")                                                             \
  X(deliver_established, "delivered: belongs to a connection of this host")                      \
  X(deliver_half_open, "delivered: completes a handshake of this host")                          \
  X(deliver_time_wait, "delivered: belongs to a connection that was closed a moment ago")        \
  X(deliver_cookie, "delivered: carries a valid SYN cookie of this host")                        \
  X(deliver_icmp_error, "delivered: an ICMP error about a connection of this host")              \
  X(forward_tcp, "sent on: TCP of a connection this host does not know")                         \
  X(forward_icmp_error, "sent on: an ICMP error about a connection this host does not know")     \
  X(of_half_open_alien, "of those, acknowledging a handshake of another backend")                \
  X(of_time_wait_alien, "of those, newer than the connection closed here with the same ports")   \
  X(of_gue, "of those delivered, wrapped in GUE")                                                \
  X(of_ipip, "of those delivered, wrapped in IP")                                                \
  X(of_gre, "of those delivered, wrapped in GRE")                                                \
  X(fail_no_room, "of those delivered, lost: the driver refused to move the start of the frame") \
  X(fail_no_metadata, "of those sent on, lost: the driver leaves no room for metadata")          \
  X(sent_on, "of those sent on, handed to the neighbour layer by the tc program")

struct gw_counters {
#define GW_COUNTER_FIELD(name, meaning) __u64 name;
  GW_COUNTERS(GW_COUNTER_FIELD)
#undef GW_COUNTER_FIELD
};

/* Of steer.bpf.o: what a director's AF_XDP port takes from the kernel.
 *
 * Value of a service's entry. An IPv6 prefix as short as ::/0 holds the addresses that stand for IPv4 ones, and every
 * IPv4 prefix is longer than such a one, so that the family of the best match tells whose packets are meant. */
enum gw_family { GW_IPV4 = 4, GW_IPV6 = 6 };

struct gw_steering {
  __u32 neighbours; /* 1: ARP requests and neighbour solicitations for service addresses as well */
};

struct gw_steered {
  __u64 to_socket;
  __u64 to_kernel;
  __u64 drop_no_socket; /* for a service address, on a queue without a socket */
};
