#include "agent/maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "bpf/list.h"

namespace guideway::agent {
namespace {

// Makes the map hold exactly the entries, adding before removing.
template <class Key, class Value>
Result<void> replace(int map, const char* name, const std::vector<std::pair<Key, Value>>& entries) {
  if (const int error = list_add(map, entries); error != 0)
    return fail(ErrorKind::refused, fmt::format("the map takes no more entries: {}", std::strerror(error)),
                name, "name prefixes instead of single addresses");
  list_keep_only(map, entries);
  return {};
}

Prefix shortened(Prefix prefix, std::uint8_t length) {
  prefix.length = length;
  for (std::size_t bit = length; bit < prefix.address.size() * 8; ++bit)
    prefix.address.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> bit % 8));
  return prefix;
}

std::vector<std::pair<gw_prefix, gw_sender>> sender_entries(const Lists& lists) {
  std::map<Prefix, std::uint32_t> roles_as_listed;
  for (const Prefix& prefix : lists.directors) roles_as_listed[prefix] |= GW_ROLE_DIRECTOR;
  for (const Prefix& prefix : lists.peers) roles_as_listed[prefix] |= GW_ROLE_PEER;
  std::set<std::uint8_t> lengths;
  for (const auto& [prefix, roles] : roles_as_listed) lengths.insert(prefix.length);
  std::vector<std::pair<gw_prefix, gw_sender>> out;
  for (const auto& [prefix, roles] : roles_as_listed) {
    gw_sender sender{};
    sender.roles_as_listed = roles;
    // The program finds the longest prefix alone, so that one has the roles of all that cover it.
    for (const std::uint8_t length : lengths) {
      if (length > prefix.length) break;
      if (const auto covering = roles_as_listed.find(shortened(prefix, length));
          covering != roles_as_listed.end())
        sender.roles |= covering->second;
    }
    out.emplace_back(map_key(prefix), sender);
  }
  return out;
}

template <class T>
std::vector<T> common(std::vector<T> a, std::vector<T> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::vector<T> out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

Lists common(const Lists& a, const Lists& b) {
  Lists out;
  out.local = common(a.local, b.local);
  out.services = common(a.services, b.services);
  out.directors = common(a.directors, b.directors);
  out.peers = common(a.peers, b.peers);
  return out;
}

}  // namespace

Lists Maps::lists() const {
  Lists out;
  for (const gw_address& key : list_keys<gw_address>(fd(locals))) out.local.push_back(address_of(key));
  for (const gw_prefix& key : list_keys<gw_prefix>(fd(services))) out.services.push_back(prefix_of(key));
  for (const gw_prefix& key : list_keys<gw_prefix>(fd(senders))) {
    gw_sender sender{};
    if (bpf_map_lookup_elem(fd(senders), &key, &sender) != 0) continue;
    if (sender.roles_as_listed & GW_ROLE_DIRECTOR) out.directors.push_back(prefix_of(key));
    if (sender.roles_as_listed & GW_ROLE_PEER) out.peers.push_back(prefix_of(key));
  }
  std::sort(out.local.begin(), out.local.end());
  for (auto* list : {&out.directors, &out.peers, &out.services}) std::sort(list->begin(), list->end());
  return out;
}

Result<void> Maps::write_lists(const Lists& lists) const {
  std::vector<std::pair<gw_address, std::uint32_t>> local_entries;
  for (const IpAddress& address : lists.local) local_entries.emplace_back(map_key(address), 1);
  std::vector<std::pair<gw_prefix, std::uint32_t>> service_entries;
  for (const Prefix& prefix : lists.services) service_entries.emplace_back(map_key(prefix), 1);
  if (auto done = replace(fd(locals), names[locals], local_entries); !done) return done;
  if (auto done = replace(fd(services), names[services], service_entries); !done) return done;
  return replace(fd(senders), names[senders], sender_entries(lists));
}

Result<void> Maps::set_lists(const Lists& lists) const {
  const Lists before = this->lists();
  auto done = write_lists(lists);
  if (done) return done;
  // What was in the maps fitted them: without the new entries it does so again.
  for (const Lists& kept : {common(before, lists), before})
    if (auto back = write_lists(kept); !back) return back;
  return done;
}

Result<gw_record> Maps::record() const {
  gw_record out{};
  const __u32 zero = 0;
  if (bpf_map_lookup_elem(fd(records), &zero, &out) != 0 || out.version != GW_RECORD_VERSION)
    return fail(ErrorKind::refused, "the programs were loaded by another version of the agent",
                names[records], "detach with that version and attach again");
  return out;
}

Result<void> Maps::set_record(const gw_record& record) const {
  const __u32 zero = 0;
  if (bpf_map_update_elem(fd(records), &zero, &record, BPF_ANY) != 0)
    return fail(ErrorKind::internal, fmt::format("cannot be written: {}", std::strerror(errno)),
                names[records]);
  return {};
}

gw_counters Maps::counters() const {
  gw_counters sum{};
  const int cpus = libbpf_num_possible_cpus();
  const __u32 zero = 0;
  std::vector<gw_counters> each(cpus > 0 ? static_cast<std::size_t>(cpus) : 0);
  if (each.empty() || bpf_map_lookup_elem(fd(totals), &zero, each.data()) != 0) return sum;
  for (const gw_counters& one : each)
    for (const Counter& counter : counter_table()) sum.*counter.value += one.*counter.value;
  return sum;
}

const std::vector<Counter>& counter_table() {
#define GW_COUNTER_ROW(name, meaning) {#name, meaning, &gw_counters::name},
  static const std::vector<Counter> table = {GW_COUNTERS(GW_COUNTER_ROW)};
#undef GW_COUNTER_ROW
  return table;
}

}  // namespace guideway::agent
