// List: a map whose keys are a list, from the side of who keeps it.
// What: all its keys; entries added; everything else taken away. Whoever adds before it takes away never misses an
//       entry that stays.
// Thread: any; the program reads meanwhile.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace guideway {

template <class Key>
[[nodiscard]] std::vector<Key> list_keys(int map) {
  std::vector<Key> out;
  Key key{};
  for (const Key* previous = nullptr; bpf_map_get_next_key(map, previous, &key) == 0; previous = &out.back())
    out.push_back(key);
  return out;
}

// 0, or the errno of the first entry that the map does not take.
template <class Key, class Value>
[[nodiscard]] int list_add(int map, const std::vector<std::pair<Key, Value>>& entries) {
  for (const auto& [key, value] : entries)
    if (bpf_map_update_elem(map, &key, &value, BPF_ANY) != 0) return errno;
  return 0;
}

template <class Key, class Value>
void list_keep_only(int map, const std::vector<std::pair<Key, Value>>& entries) {
  const auto less = [](const Key& a, const Key& b) { return std::memcmp(&a, &b, sizeof(Key)) < 0; };
  std::vector<Key> kept;
  for (const auto& entry : entries) kept.push_back(entry.first);
  std::sort(kept.begin(), kept.end(), less);
  for (const Key& key : list_keys<Key>(map))
    if (!std::binary_search(kept.begin(), kept.end(), key, less)) bpf_map_delete_elem(map, &key);
}

}  // namespace guideway
