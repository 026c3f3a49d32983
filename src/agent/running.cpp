#include "agent/running.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "agent/sized.h"
#include "bpf/loaded.h"

namespace guideway::agent {
namespace {

bool all_there(const std::array<Fd, Maps::names.size()>& fds) {
  for (const Fd& fd : fds)
    if (!fd) return false;
  return true;
}

}  // namespace

Result<std::optional<Running>> find_running(const Interface& interface) {
  auto query = sized(&bpf_xdp_query_opts::bpf_xdp_query_opts__last_field);
  if (bpf_xdp_query(static_cast<int>(interface.index), 0, &query) != 0 || query.prog_id == 0)
    return std::nullopt;
  Fd program(bpf_prog_get_fd_by_id(query.prog_id));
  if (!program) return std::nullopt;
  if (program_name(program.get()) != receive_name) return std::nullopt;
  auto fds = program_maps(program.get(), Maps::names);
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
