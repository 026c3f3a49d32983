#include "agent/attachment.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/if_link.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/companion.h"
#include "agent/program.h"
#include "agent/running.h"
#include "agent/sized.h"

namespace guideway::agent {
namespace {

tl::unexpected<Error> wanting(const Interface& interface, const char* what, const char* option) {
  return fail(ErrorKind::usage, fmt::format("no {} is named", what), interface.name,
              fmt::format("add {}", option));
}

// The lists to be in force: named ones, else those of before.
Result<Lists> lists_for(const Interface& interface, const Settings& settings, Lists before,
                        bool local_is_given) {
  Lists out = std::move(before);
  if (settings.directors) out.directors = *settings.directors;
  if (settings.peers) out.peers = *settings.peers;
  if (settings.services) out.services = *settings.services;
  if (settings.local)
    out.local = *settings.local;
  else if (!local_is_given)
    out.local = interface_addresses(interface);
  std::erase_if(out.local, [&](const IpAddress& address) {
    const Prefix full{address, static_cast<std::uint8_t>(address.size() * 8)};
    return std::any_of(out.services.begin(), out.services.end(),
                       [&](const Prefix& p) { return p.covers(full); });
  });
  if (out.directors.empty()) return wanting(interface, "director", "--director ADDRESS");
  if (out.services.empty()) return wanting(interface, "service address", "--service ADDRESS");
  if (out.local.empty())
    return fail(ErrorKind::refused, "the interface has no address that directors could send to",
                interface.name, "give it one, or name the host's with --local ADDRESS");
  return out;
}

tl::unexpected<Error> cannot_attach(const Interface& interface, Mode mode, int error) {
  std::string what = fmt::format("the XDP program cannot be attached: {}", std::strerror(error));
  std::string next = "try --mode generic";
  if (error == EBUSY || error == EEXIST) {
    what = "another XDP program is attached";
    next = fmt::format(
        "`ip link show {0}` names it; take it off first (`ip link set {0} xdp off`, or its own tool)",
        interface.name);
  } else if (error == EOPNOTSUPP && mode == Mode::native) {
    what = "the driver has no native XDP";
  } else if (error == ERANGE) {
    what = "the MTU is too large for native XDP with this driver";
    next = "lower the MTU or use --mode generic";
  } else if (mode == Mode::generic) {
    next = "the kernel's log (dmesg) tells more";
  }
  return fail(ErrorKind::refused, std::move(what), interface.name, std::move(next));
}

// 0, or the reason as errno has it. Never in place of another program.
int attach_program(const Interface& interface, int program, std::uint32_t mode_flags) {
  return -bpf_xdp_attach(static_cast<int>(interface.index), program, mode_flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
                         nullptr);
}

// In place of `running` alone: if another program is there by now, nothing happens. -1 as the program
// detaches.
int exchange_program(const Interface& interface, const Running& running, int program) {
  auto options = sized(&bpf_xdp_attach_opts::bpf_xdp_attach_opts__last_field);
  options.old_prog_fd = running.program.get();
  return -bpf_xdp_attach(static_cast<int>(interface.index), program, running.mode_flags | XDP_FLAGS_REPLACE,
                         &options);
}

// Native first; a driver that asks for programs that know frames of several buffers gets one, with the same
// maps. The record says what goes on before it does: it must be right if the agent is killed right after.
Result<void> attach_xdp(const Interface& interface, Mode mode, const Program& program, const Maps& maps,
                        gw_record record) {
  int error = 0;
  if (const auto done = maps.set_record(record); !done) return done;
  if (mode != Mode::generic) {
    error = attach_program(interface, program.receive(), XDP_FLAGS_DRV_MODE);
    if (error == 0) return {};
    if (error == ERANGE || error == EOPNOTSUPP) {
      const auto other = Program::load({.udp_port = record.udp_port, .multi_buffer = true, .maps = &maps});
      record.multi_buffer = 1;
      if (other) record.program_kind = static_cast<__u8>(other->kind());
      if (const auto done = maps.set_record(record); !done) return done;
      if (other && attach_program(interface, other->receive(), XDP_FLAGS_DRV_MODE) == 0) return {};
      record.multi_buffer = 0;
      record.program_kind = static_cast<__u8>(program.kind());
      if (const auto done = maps.set_record(record); !done) return done;
    }
    if (mode == Mode::native || error == EBUSY || error == EEXIST)
      return cannot_attach(interface, mode, error);
  }
  error = attach_program(interface, program.receive(), XDP_FLAGS_SKB_MODE);
  if (error == 0) return {};
  return cannot_attach(interface, Mode::generic, error);
}

}  // namespace

Result<Change> attach(const Interface& interface, const Settings& settings) {
  const auto lists = lists_for(interface, settings, {}, settings.local.has_value());
  if (!lists) return tl::unexpected(lists.error());
  const std::uint16_t port = settings.udp_port.value_or(udp_port_default);
  const auto running = find_running(interface);
  if (!running) return tl::unexpected(running.error());
  if (*running) {
    if ((*running)->maps.lists() == *lists && (*running)->record.udp_port == port)
      return Change::nothing_to_do;
    return fail(
        ErrorKind::refused, "the agent is attached already, with other settings", interface.name,
        fmt::format(
            "`guideway-agent update {0} …` changes them in place, `guideway-agent status {0}` shows them",
            interface.name));
  }

  // The lists are filled before anything sees a packet, and what sends on is there before what marks.
  const auto program = Program::load({.udp_port = port});
  if (!program) return tl::unexpected(program.error());
  const auto maps = program->maps();
  if (!maps) return tl::unexpected(maps.error());
  gw_record record{};
  record.version = GW_RECORD_VERSION;
  record.udp_port = port;
  record.program_kind = static_cast<__u8>(program->kind());
  record.local_is_given = settings.local.has_value();
  if (const auto done = maps->set_lists(*lists); !done) return tl::unexpected(done.error());
  const auto clsact = put_companion(interface, program->send_on());
  if (!clsact) return tl::unexpected(clsact.error());
  record.clsact_is_our = *clsact != Clsact::foreign;
  const auto attached =
      attach_xdp(interface, settings.mode.value_or(Mode::automatic), *program, *maps, record);
  if (!attached) {
    remove_companion(interface, *clsact == Clsact::made);
    return tl::unexpected(attached.error());
  }
  return Change::done;
}

Result<Change> update(const Interface& interface, const Settings& settings, bool reload) {
  const auto found = find_running(interface);
  if (!found) return tl::unexpected(found.error());
  if (!*found)
    return fail(ErrorKind::not_found, "the agent is not attached", interface.name,
                fmt::format("`guideway-agent attach {} …` does that", interface.name));
  const Running& running = **found;
  gw_record record = running.record;
  const Lists before = running.maps.lists();
  const bool local_is_given = settings.local.has_value() || record.local_is_given != 0;
  const auto lists = lists_for(interface, settings, before, local_is_given);
  if (!lists) return tl::unexpected(lists.error());
  const std::uint16_t port = settings.udp_port.value_or(record.udp_port);
  const bool exchange = reload || port != record.udp_port;
  if (*lists == before && !exchange) return Change::nothing_to_do;

  if (const auto done = running.maps.set_lists(*lists); !done) return tl::unexpected(done.error());
  record.local_is_given = local_is_given;
  if (exchange) {
    const auto program =
        Program::load({.udp_port = port, .multi_buffer = record.multi_buffer != 0, .maps = &running.maps});
    if (!program) return tl::unexpected(program.error());
    if (const auto done = put_companion(interface, program->send_on()); !done)
      return tl::unexpected(done.error());
    if (const int error = exchange_program(interface, running, program->receive()); error != 0)
      return cannot_attach(interface, Mode::native, error);
    record.udp_port = port;
    record.program_kind = static_cast<__u8>(program->kind());
  }
  if (const auto done = running.maps.set_record(record); !done) return tl::unexpected(done.error());
  return Change::done;
}

Result<void> detach(const Interface& interface) {
  const auto found = find_running(interface);
  if (!found) return tl::unexpected(found.error());
  if (!*found) {
    // Somebody took only the XDP program off, or an agent was killed halfway.
    if (remove_companion(interface, true)) return {};
    return fail(ErrorKind::not_found, "the agent is not attached", interface.name,
                "`guideway-agent status` lists where it is");
  }
  const Running& running = **found;
  if (const int error = exchange_program(interface, running, -1); error != 0)
    return fail(ErrorKind::refused,
                fmt::format("the XDP program cannot be taken off: {}", std::strerror(error)), interface.name,
                fmt::format("`ip link show {}` tells what is attached", interface.name));
  remove_companion(interface, running.record.clsact_is_our != 0);
  return {};
}

}  // namespace guideway::agent
