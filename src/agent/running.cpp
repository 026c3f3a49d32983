#include "agent/running.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <cstring>

#include "agent/sized.h"

namespace guideway::agent {
namespace {

// The descriptors of a program's maps, by name; empty ones where it has no such map.
std::array<Fd, Maps::names.size()> maps_of(int program) {
  std::array<Fd, Maps::names.size()> out;
  std::array<__u32, 16> ids{};
  bpf_prog_info info{};
  __u32 length = sizeof(info);
  info.nr_map_ids = ids.size();
  info.map_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  if (bpf_obj_get_info_by_fd(program, &info, &length) != 0 || std::strcmp(info.name, receive_name) != 0)
    return out;
  for (std::size_t i = 0; i < info.nr_map_ids && i < ids.size(); ++i) {
    Fd map(bpf_map_get_fd_by_id(ids[i]));
    bpf_map_info map_info{};
    __u32 map_length = sizeof(map_info);
    if (!map || bpf_obj_get_info_by_fd(map.get(), &map_info, &map_length) != 0) continue;
    for (std::size_t n = 0; n < Maps::names.size(); ++n)
      if (std::strcmp(map_info.name, Maps::names[n]) == 0) out[n] = std::move(map);
  }
  return out;
}

bool all_there(const std::array<Fd, Maps::names.size()>& fds) {
  for (const Fd& fd : fds)
    if (!fd) return false;
  return true;
}

}  // namespace

Result<std::optional<Running>> find_running(const Interface& interface) {
  auto query = sized<bpf_xdp_query_opts>();
  if (bpf_xdp_query(static_cast<int>(interface.index), 0, &query) != 0 || query.prog_id == 0)
    return std::nullopt;
  Fd program(bpf_prog_get_fd_by_id(query.prog_id));
  if (!program) return std::nullopt;
  auto fds = maps_of(program.get());
  if (!all_there(fds)) return std::nullopt;
  Running out{std::move(program), 0, {}, Maps(std::move(fds)), {}};
  auto record = out.maps.record();
  if (!record) return tl::unexpected(record.error());
  out.record = *record;
  const bool native = query.attach_mode == XDP_ATTACHED_DRV, generic = query.attach_mode == XDP_ATTACHED_SKB;
  out.mode = native ? "native" : generic ? "generic" : "offloaded";
  out.mode_flags = native ? XDP_FLAGS_DRV_MODE : generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_HW_MODE;
  return out;
}

}  // namespace guideway::agent
