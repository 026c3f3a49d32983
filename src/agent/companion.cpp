#include "agent/companion.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <cstring>
#include <memory>

#include "agent/running.h"
#include "agent/sized.h"

namespace guideway::agent {
namespace {

// Early, so that no other filter takes the packets first; another kind of classifier may own a priority, so
// there are a few. The handle makes ours known.
constexpr std::uint32_t filter_handle = 0x6777, priority_first = 2, priority_last = 9;

bpf_tc_hook hook_of(const Interface& interface) {
  auto hook = sized(&bpf_tc_hook::bpf_tc_hook__last_field);
  hook.ifindex = static_cast<int>(interface.index);
  hook.attach_point = BPF_TC_INGRESS;
  return hook;
}

int attach(const Interface& interface, int program, std::uint32_t priority, std::uint32_t flags) {
  bpf_tc_hook hook = hook_of(interface);
  auto options = sized(&bpf_tc_opts::bpf_tc_opts__last_field);
  options.prog_fd = program;
  options.flags = flags;
  options.handle = filter_handle;
  options.priority = priority;
  return bpf_tc_attach(&hook, &options);
}

bool is_our(std::uint32_t program_id) {
  const Fd program(bpf_prog_get_fd_by_id(program_id));
  bpf_prog_info info{};
  __u32 length = sizeof(info);
  return program && bpf_obj_get_info_by_fd(program.get(), &info, &length) == 0 &&
         std::strcmp(info.name, send_on_name) == 0;
}

// The priority of our filter; 0 if there is none.
std::uint32_t find_priority(const Interface& interface) {
  const bpf_tc_hook hook = hook_of(interface);
  for (std::uint32_t priority = priority_first; priority <= priority_last; ++priority) {
    auto options = sized(&bpf_tc_opts::bpf_tc_opts__last_field);
    options.handle = filter_handle;
    options.priority = priority;
    if (bpf_tc_query(&hook, &options) == 0 && is_our(options.prog_id)) return priority;
  }
  return 0;
}

// Filters of others; our own is known by priority and handle.
struct Others {
  std::uint32_t our_priority = 0;
  bool found = false;
};

int look_at_filter(const nlmsghdr* message, void* others) {
  auto& seen = *static_cast<Others*>(others);
  const auto* tc = static_cast<const tcmsg*>(mnl_nlmsg_get_payload(message));
  // Each priority announces itself, without a handle, before it lists its filters.
  const bool our = TC_H_MAJ(tc->tcm_info) >> 16 == seen.our_priority &&
                   (tc->tcm_handle == 0 || tc->tcm_handle == filter_handle);
  if (!our) seen.found = true;
  return MNL_CB_OK;
}

// Whether filters of others are at one side of the clsact qdisc; also where the kernel does not tell.
bool others_at(const Interface& interface, std::uint32_t parent, std::uint32_t our_priority) {
  const std::unique_ptr<mnl_socket, decltype(&mnl_socket_close)> socket(mnl_socket_open(NETLINK_ROUTE),
                                                                        mnl_socket_close);
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) return true;
  std::array<char, 16384> buffer{};
  nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
  message->nlmsg_type = RTM_GETTFILTER;
  message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  auto* tc = static_cast<tcmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(tcmsg)));
  tc->tcm_family = AF_UNSPEC;
  tc->tcm_ifindex = static_cast<int>(interface.index);
  tc->tcm_parent = parent;
  if (mnl_socket_sendto(socket.get(), message, message->nlmsg_len) < 0) return true;
  Others others{our_priority};
  for (int state = MNL_CB_OK; state > MNL_CB_STOP;) {
    const ssize_t bytes = mnl_socket_recvfrom(socket.get(), buffer.data(), buffer.size());
    if (bytes < 0) return true;
    state = mnl_cb_run(buffer.data(), static_cast<std::size_t>(bytes), 0, mnl_socket_get_portid(socket.get()),
                       look_at_filter, &others);
    if (state < 0) return true;
  }
  return others.found;
}

bool only_ours_in_clsact(const Interface& interface, std::uint32_t our_priority) {
  return !others_at(interface, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), our_priority) &&
         !others_at(interface, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), 0);
}

void remove_clsact(const Interface& interface) {
  auto hook = sized(&bpf_tc_hook::bpf_tc_hook__last_field);
  hook.ifindex = static_cast<int>(interface.index);
  hook.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);
  bpf_tc_hook_destroy(&hook);
}

}  // namespace

Result<Clsact> put_companion(const Interface& interface, int program) {
  bpf_tc_hook hook = hook_of(interface);
  const int created = bpf_tc_hook_create(&hook);
  if (created != 0 && created != -EEXIST)
    return fail(ErrorKind::refused, fmt::format("no clsact qdisc can be added: {}", std::strerror(-created)),
                interface.name, "the kernel needs CONFIG_NET_CLS_ACT; `tc qdisc show` tells what is there");
  const std::uint32_t ours = find_priority(interface);
  const Clsact clsact = created == 0                           ? Clsact::made
                        : only_ours_in_clsact(interface, ours) ? Clsact::adopted
                                                               : Clsact::foreign;
  if (ours != 0 && attach(interface, program, ours, BPF_TC_F_REPLACE) == 0) return clsact;
  int error = 0;
  for (std::uint32_t priority = priority_first; priority <= priority_last; ++priority)
    if ((error = attach(interface, program, priority, 0)) == 0) return clsact;
  if (clsact == Clsact::made) remove_companion(interface, true);
  return fail(
      ErrorKind::refused, fmt::format("no tc filter can be added: {}", std::strerror(-error)), interface.name,
      fmt::format("`tc filter show dev {} ingress` tells what is there; the kernel needs CONFIG_NET_CLS_BPF",
                  interface.name));
}

bool remove_companion(const Interface& interface, bool clsact_is_our) {
  const std::uint32_t priority = find_priority(interface);
  if (clsact_is_our && only_ours_in_clsact(interface, priority)) {
    remove_clsact(interface);  // in one step, and the filter with it
    return priority != 0;
  }
  if (priority == 0) return false;
  const bpf_tc_hook hook = hook_of(interface);
  auto options = sized(&bpf_tc_opts::bpf_tc_opts__last_field);
  options.handle = filter_handle;
  options.priority = priority;
  bpf_tc_detach(&hook, &options);
  return true;
}

}  // namespace guideway::agent
