#include "io/xdp_program.h"

#include <fmt/format.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "bpf/loaded.h"
#include "io/frame_room.h"
#include "io/xsk_slot.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "steer.skel.h"
#pragma GCC diagnostic pop

namespace guideway {
namespace {

struct Object {
  const void* bytes = nullptr;
  std::size_t size = 0;
};

Object object_in_this_binary() {
  Object out;
  out.bytes = steer__elf_bytes(&out.size);
  return out;
}

tl::unexpected<Error> refuse(std::string what, std::string next) {
  return fail(ErrorKind::refused, std::move(what), {}, std::move(next));
}

int index_of(const std::string& interface) { return static_cast<int>(if_nametoindex(interface.c_str())); }

std::string taking_off(const std::string& interface) {
  return fmt::format("take it off (ip link set dev {} xdp off, or its own tool), or use af_packet:{}",
                     interface, interface);
}

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

tl::unexpected<Error> refused_by_driver(const std::string& interface, int error) {
  const auto other = fmt::format("use af_packet:{}", interface);
  switch (error) {
    case ERANGE:
      return refuse(fmt::format("the MTU of {} or of its other end is too large for XDP", interface),
                    fmt::format("set {} or less on both, or {}", xdp_mtu_max, other));
    case EBUSY:
    case EEXIST:
      return refuse("another XDP program came to the interface meanwhile", taking_off(interface));
    case EPERM:
    case EACCES:
      return refuse("XDP programs may not be put on interfaces here", "start guidewayd as root");
    default:
      return refuse(fmt::format("the interface takes no XDP program: {}", std::strerror(error)),
                    fmt::format("see the kernel's log (dmesg), or {}", other));
  }
}

}  // namespace

Result<std::string> steering_object() {
  static const Fd file = [] {
    const Object object = object_in_this_binary();
    Fd out(::memfd_create("steer.bpf.o", MFD_CLOEXEC));
    const bool whole =
        out && ::write(out.get(), object.bytes, object.size) == static_cast<ssize_t>(object.size);
    return whole ? std::move(out) : Fd();
  }();
  if (!file) return refuse("no memory for the steering program", "free some memory");
  return fmt::format("/proc/self/fd/{}", file.get());
}

Fd attached_program(const std::string& interface) {
  __u32 id = 0;
  if (bpf_xdp_query_id(index_of(interface), 0, &id) != 0 || id == 0) return {};
  return Fd(bpf_prog_get_fd_by_id(id));
}

Result<void> clear_interface(const std::string& interface) {
  if (!Fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)))
    return refuse(fmt::format("AF_XDP sockets cannot be made here: {}", std::strerror(errno)),
                  fmt::format("boot a kernel with CONFIG_XDP_SOCKETS, or use af_packet:{}", interface));
  const Fd program = attached_program(interface);
  if (!program) return {};
  const auto name = program_name(program.get());
  auto [sockets] = program_maps<1>(program.get(), {"xsks_map"});
  if (name != steering_program || !sockets)
    return refuse(fmt::format("another XDP program (\"{}\") is on the interface", name),
                  taking_off(interface));
  if (xsk_slot_in_use(sockets.get(), 0))
    return refuse("another guidewayd has the interface", "stop that one first");
  spdlog::info(
      fmt::format("{}: a director that was killed left its XDP program behind; it is taken off", interface));
  if (const int status = bpf_xdp_detach(index_of(interface), 0, nullptr); status != 0)
    return refuse(fmt::format("the XDP program of a director that was killed cannot be taken off: {}",
                              std::strerror(-status)),
                  fmt::format("ip link set dev {} xdp off", interface));
  return {};
}

Result<void> rehearse_program(const std::string& interface) {
  const Object bytes = object_in_this_binary();
  const std::unique_ptr<bpf_object, CloseObject> object(
      bpf_object__open_mem(bytes.bytes, bytes.size, nullptr));
  if (!object || bpf_object__load(object.get()) != 0)
    return refuse(fmt::format("the kernel refuses the steering program: {}", std::strerror(errno)),
                  "guidewayd --log-level debug tells its words; a kernel from 5.10 on takes it");
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object.get(), steering_program));
  const int status = bpf_xdp_attach(index_of(interface), program, XDP_FLAGS_UPDATE_IF_NOEXIST, nullptr);
  if (status != 0) return refused_by_driver(interface, -status);
  bpf_xdp_detach(index_of(interface), 0, nullptr);
  return {};
}

}  // namespace guideway
