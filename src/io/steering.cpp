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

int Steering::add_services(const Site& site) {
  const int error = list_add(services_.get(), entries_of(site));
  count_left_out(site);
  return error;
}

void Steering::drop_others(const Site& site) {
  list_keep_only(services_.get(), entries_of(site));
  if (left_out_ > 0) static_cast<void>(add_services(site));
}

// A shorter prefix in the list takes a service's packets as well.
void Steering::count_left_out(const Site& site) {
  left_out_ = static_cast<std::size_t>(std::ranges::count_if(site.services, [&](const Service& service) {
    const gw_prefix key = map_key(service.address, service.prefix_length);
    std::uint32_t family = 0;
    return is_mapped(service) || bpf_map_lookup_elem(services_.get(), &key, &family) != 0;
  }));
}

Steered Steering::counts() const {
  const __u32 zero = 0;
  const int cpus = libbpf_num_possible_cpus();
  std::vector<gw_steered> each(cpus > 0 ? static_cast<std::size_t>(cpus) : 0);
  Steered out;
  out.services_left_out = left_out_;
  if (each.empty() || bpf_map_lookup_elem(steered_.get(), &zero, each.data()) != 0) return out;
  for (const auto& one : each) {
    out.to_socket += one.to_socket;
    out.to_kernel += one.to_kernel;
    out.no_socket += one.drop_no_socket;
  }
  return out;
}

}  // namespace guideway
