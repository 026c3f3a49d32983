// Loaded: a program that is in the kernel already, and its maps.
// What: the descriptors of its maps, by name; empty ones where it has no such map.
// Why:  who loaded it may be another program, or an earlier run of this one.
// Thread: any.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "guideway/fd.h"

namespace guideway {

// Empty: it cannot be asked.
[[nodiscard]] inline std::string program_name(int program) {
  bpf_prog_info info{};
  __u32 length = sizeof(info);
  return bpf_obj_get_info_by_fd(program, &info, &length) == 0 ? info.name : "";
}

template <std::size_t count>
[[nodiscard]] std::array<Fd, count> program_maps(int program, const std::array<const char*, count>& names) {
  std::array<Fd, count> out;
  std::array<__u32, 16> ids{};
  bpf_prog_info info{};
  __u32 length = sizeof(info);
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  if (bpf_obj_get_info_by_fd(program, &info, &length) != 0) return out;
  for (std::size_t i = 0; i < info.nr_map_ids && i < ids.size(); ++i) {
    Fd map(bpf_map_get_fd_by_id(ids[i]));
    bpf_map_info map_info{};
    __u32 map_length = sizeof(map_info);
    if (!map || bpf_obj_get_info_by_fd(map.get(), &map_info, &map_length) != 0) continue;
    for (std::size_t n = 0; n < count; ++n)
      if (std::string_view(map_info.name) == names[n]) out[n] = std::move(map);
  }
  return out;
}

}  // namespace guideway
