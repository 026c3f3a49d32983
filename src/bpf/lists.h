/* lists: who may send to us, whom we may send to, and for which addresses.
 * What: the maps that guideway-agent fills, and one question to each.
 * Why:  a tunnel end that trusts every sender lets anyone inject packets past every filter in front of it. */
#pragma once

#include "address.h"
#include "packet.h"

#define LIST_ENTRIES 65536

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, struct gw_address);
  __type(value, __u32);
} gw_locals SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(max_entries, LIST_ENTRIES);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct gw_prefix);
  __type(value, struct gw_sender);
} gw_senders SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(max_entries, LIST_ENTRIES);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, struct gw_prefix);
  __type(value, __u32);
} gw_services SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct gw_counters);
} gw_totals SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct gw_record);
} gw_records SEC(".maps");

const volatile struct gw_config config;

static __always_inline struct gw_counters* counters(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&gw_totals, &zero);
}

/* v6: the address stood in an IPv6 header. */
static __always_inline bool is_local(const struct gw_address* address, bool v6) {
  return !poses_as_v4(address, v6) && bpf_map_lookup_elem(&gw_locals, address);
}

static __always_inline __u32 roles_of(const struct gw_address* address, bool v6) {
  if (poses_as_v4(address, v6)) return 0;
  struct gw_prefix key = {128, *address};
  const struct gw_sender* sender = bpf_map_lookup_elem(&gw_senders, &key);
  return sender ? sender->roles : 0;
}

static __always_inline bool is_service(const struct gw_address* address, bool v6) {
  struct gw_prefix key = {128, *address};
  return !poses_as_v4(address, v6) && bpf_map_lookup_elem(&gw_services, &key);
}
