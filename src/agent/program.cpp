#include "agent/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstring>
#include <tuple>

#include "agent/libbpf_log.h"
#include "agent/running.h"
#include "agent/sized.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "agent.skel.h"
#include "agent_kernel_types.skel.h"
#pragma GCC diagnostic pop

namespace guideway::agent {
namespace {

constexpr unsigned kernel_major_min = 5, kernel_minor_min = 10;
constexpr std::uint32_t multi_buffer_flag =
    1U << 5;  // BPF_F_XDP_HAS_FRAGS; newer than some build hosts' headers

Result<void> check_kernel() {
  utsname name{};
  unsigned major = 0, minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return {};
  if (std::tie(major, minor) >= std::tie(kernel_major_min, kernel_minor_min)) return {};
  return fail(ErrorKind::refused, fmt::format("kernel {} is too old", name.release), {},
              fmt::format("boot {}.{} or newer", kernel_major_min, kernel_minor_min));
}

bpf_object* open_object(const Object& object) {
  auto options = sized(&bpf_object_open_opts::bpf_object_open_opts__last_field);
  options.object_name = "guideway";
  return bpf_object__open_mem(object.bytes, object.size, &options);
}

// Of a program that was loaded from one of the objects after `tried` others.
gw_program_kind kind_of(const Object& object, bool tried) {
  if (object.kernel_types) return GW_KERNEL_TYPED;
  return tried ? GW_PORTABLE_REFUSED : GW_PORTABLE_NO_TYPES;
}

bool prepare(bpf_object* object, const ProgramOptions& options) {
  gw_config config{};
  config.udp_port_be = htons(options.udp_port);
  bpf_map* constants = bpf_object__find_map_by_name(object, ".rodata");
  if (constants == nullptr || bpf_map__set_initial_value(constants, &config, sizeof(config)) != 0)
    return false;
  bpf_program* receive = bpf_object__find_program_by_name(object, receive_name);
  if (receive == nullptr) return false;
  if (options.multi_buffer && bpf_program__set_flags(receive, multi_buffer_flag) != 0) return false;
  if (options.maps == nullptr) return true;
  for (std::size_t i = 0; i < Maps::names.size(); ++i) {
    bpf_map* map = bpf_object__find_map_by_name(object, Maps::names[i]);
    if (map == nullptr || bpf_map__reuse_fd(map, options.maps->fd(i)) != 0) return false;
  }
  return true;
}

// The kernel keeps a map as long as a program uses it; the record is used by none.
bool keep_record(const bpf_object* object) {
  const bpf_program* receive = bpf_object__find_program_by_name(object, receive_name);
  const bpf_map* record = bpf_object__find_map_by_name(object, "gw_records");
  return receive != nullptr && record != nullptr &&
         bpf_prog_bind_map(bpf_program__fd(receive), bpf_map__fd(record), nullptr) == 0;
}

int program_fd(const bpf_object* object, const char* name) {
  return bpf_program__fd(bpf_object__find_program_by_name(object, name));
}

}  // namespace

Object kernel_typed_object() {
  Object out{.kernel_types = true};
  out.bytes = agent_kernel_types__elf_bytes(&out.size);
  return out;
}

Object portable_object() {
  Object out;
  out.bytes = agent__elf_bytes(&out.size);
  return out;
}

std::vector<Object> objects_for_this_kernel() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return {portable_object()};
  return {kernel_typed_object(), portable_object()};
}

void Program::Close::operator()(bpf_object* object) const { bpf_object__close(object); }

Result<Program> Program::load(const ProgramOptions& options, const std::vector<Object>& objects) {
  if (const auto kernel = check_kernel(); !kernel) return tl::unexpected(kernel.error());
  std::string cause;
  for (const Object& object : objects) {
    (void)take_libbpf_warning();
    Program out;
    out.object_.reset(open_object(object));
    out.kind_ = kind_of(object, &object != &objects.front());
    errno = 0;
    if (out.object_ && prepare(out.object_.get(), options) && bpf_object__load(out.object_.get()) == 0 &&
        keep_record(out.object_.get()))
      return out;
    const int error = errno;
    cause = take_libbpf_warning();
    if (cause.empty()) cause = std::strerror(error);
  }
  return fail(
      ErrorKind::refused, fmt::format("the kernel refuses the program ({})", cause), {},
      "check that it has CONFIG_BPF_SYSCALL, CONFIG_XDP_SOCKETS or newer than 5.10, and that no security "
      "module forbids BPF");
}

int Program::receive() const { return program_fd(object_.get(), receive_name); }
int Program::send_on() const { return program_fd(object_.get(), send_on_name); }

Result<Maps> Program::maps() const {
  std::array<Fd, Maps::names.size()> fds;
  for (std::size_t i = 0; i < Maps::names.size(); ++i) {
    const int fd = bpf_map__fd(bpf_object__find_map_by_name(object_.get(), Maps::names[i]));
    fds[i] = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!fds[i]) return fail(ErrorKind::internal, "a map is missing from the loaded object", Maps::names[i]);
  }
  return Maps(std::move(fds));
}

}  // namespace guideway::agent
