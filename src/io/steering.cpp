#include "io/steering.h"

#include <algorithm>
#include <vector>

#include "bpf/key.h"
#include "bpf/list.h"
#include "bpf/loaded.h"
#include "io/xdp_program.h"
#include "state/site.h"

namespace guideway {
namespace {

// In IPv6's form of IPv4 addresses (::ffff:0:0/96). The program takes no packet to one, and as a key it would stand
// for the IPv4 address.
bool is_mapped(const Service& service) {
  const auto& bytes = service.address.bytes;
  return service.address.family == Family::ipv6 && service.prefix_length >= mapped_bits &&
         bytes[10] == 0xff && bytes[11] == 0xff &&
         std::all_of(bytes.begin(), bytes.begin() + 10, [](auto byte) { return byte == 0; });
}

std::vector<std::pair<gw_prefix, std::uint32_t>> entries_of(const Site& site) {
  std::vector<std::pair<gw_prefix, std::uint32_t>> out;
  for (const auto& service : site.services)
    if (!is_mapped(service))
      out.emplace_back(map_key(service.address, service.prefix_length),
                       service.address.family == Family::ipv4 ? GW_IPV4 : GW_IPV6);
  return out;
}

}  // namespace

Result<Steering> Steering::find(const std::string& interface, bool neighbours) {
  const Fd program = attached_program(interface);
  auto [services, settings, steered] =
      program_maps<3>(program.get(), {"gw_services", "gw_steering", "gw_steered"});
  const __u32 zero = 0;
  const gw_steering value{neighbours ? 1U : 0U};
  if (!services || !steered || !settings || bpf_map_update_elem(settings.get(), &zero, &value, BPF_ANY) != 0)
    return fail(ErrorKind::refused, "the steering program is not on the interface any more", {},
                "look at what else puts XDP programs on it, and start again");
  return Steering(std::move(services), std::move(steered));
}

int Steering::add_services(const Site& site) const { return list_add(services_.get(), entries_of(site)); }

void Steering::drop_others(const Site& site) const { list_keep_only(services_.get(), entries_of(site)); }

Steered Steering::counts() const {
  const __u32 zero = 0;
  const int cpus = libbpf_num_possible_cpus();
  std::vector<gw_steered> each(cpus > 0 ? static_cast<std::size_t>(cpus) : 0);
  Steered out;
  if (each.empty() || bpf_map_lookup_elem(steered_.get(), &zero, each.data()) != 0) return out;
  for (const auto& one : each) {
    out.to_socket += one.to_socket;
    out.to_kernel += one.to_kernel;
    out.no_socket += one.drop_no_socket;
  }
  return out;
}

}  // namespace guideway
