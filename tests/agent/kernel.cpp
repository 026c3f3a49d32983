#include "kernel.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/libbpf_log.h"
#include "agent/sized.h"

namespace guideway::agent::test {
namespace {

std::string enter_namespace() {
  if (::geteuid() != 0) return "loading programs needs root";
  keep_libbpf_log();
  if (::unshare(CLONE_NEWNET) != 0) return "no network namespace can be made";
  for (const char* command :
       {"ip link set lo up", "ip addr add 203.0.113.10/32 dev lo",
        "ip addr add 2001:db8:100::10/128 dev lo nodad", "ip addr add 198.51.100.7/32 dev lo",
        "ip addr add 2001:db8:7::7/128 dev lo nodad"})
    if (std::system(command) != 0) return std::string("this failed: ") + command;
  return {};
}

// Test runs of XDP with a context, which shows metadata, came with 5.15.
bool kernel_tells_metadata() {
  utsname name{};
  unsigned major = 0, minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return true;
  return major > 5 || (major == 5 && minor >= 15);
}

struct Name {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Name name_of(const std::string& text, std::uint16_t port) {
  Name out;
  const Bytes bytes = address(text);
  if (is_v6(text)) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, bytes.data(), 16);
    std::memcpy(&out.storage, &v6, out.length = sizeof(v6));
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes.data(), 4);
    std::memcpy(&out.storage, &v4, out.length = sizeof(v4));
  }
  return out;
}

}  // namespace

std::string kernel_refusal() {
  static const std::string refusal = enter_namespace();
  return refusal;
}

Outcome run_xdp(int program, const Bytes& frame) {
  Outcome out;
  Bytes room(frame.size() + 512);
  xdp_md context_in{}, context_out{};
  context_in.data_end = static_cast<__u32>(frame.size());
  auto options = sized(&bpf_test_run_opts::bpf_test_run_opts__last_field);
  options.data_in = frame.data();
  options.data_out = room.data();
  options.data_size_in = static_cast<__u32>(frame.size());
  options.data_size_out = static_cast<__u32>(room.size());
  options.repeat = 1;
  if (kernel_tells_metadata()) {
    options.ctx_in = &context_in;
    options.ctx_out = &context_out;
    options.ctx_size_in = sizeof(context_in);
    options.ctx_size_out = sizeof(context_out);
  }
  EXPECT_EQ(bpf_prog_test_run_opts(program, &options), 0) << std::strerror(errno);
  out.action = options.retval;
  room.resize(options.data_size_out);
  const auto metadata = static_cast<std::ptrdiff_t>(context_out.data - context_out.data_meta);
  if (kernel_tells_metadata()) out.metadata = Bytes(room.begin(), room.begin() + metadata);
  out.frame.assign(room.begin() + metadata, room.end());
  return out;
}

Fd listen_at(const std::string& service, std::uint16_t port) {
  Fd listener(::socket(is_v6(service) ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const Name name = name_of(service, port);
  EXPECT_EQ(::bind(listener.get(), name.get(), name.length), 0) << std::strerror(errno);
  EXPECT_EQ(::listen(listener.get(), 16), 0);
  return listener;
}

Numbers numbers_of(const Fd& socket) {
  const auto set = [&](int option, int value) {
    EXPECT_EQ(::setsockopt(socket.get(), IPPROTO_TCP, option, &value, sizeof(value)), 0)
        << std::strerror(errno);
  };
  const auto get = [&](int option, auto& value) {
    socklen_t length = sizeof(value);
    EXPECT_EQ(::getsockopt(socket.get(), IPPROTO_TCP, option, &value, &length), 0) << std::strerror(errno);
  };
  Numbers out;
  tcp_repair_window window{};
  set(TCP_REPAIR, TCP_REPAIR_ON);
  set(TCP_REPAIR_QUEUE, TCP_SEND_QUEUE);
  get(TCP_QUEUE_SEQ, out.sent);
  set(TCP_REPAIR_QUEUE, TCP_RECV_QUEUE);
  get(TCP_QUEUE_SEQ, out.received);
  get(TCP_REPAIR_WINDOW, window);
  set(TCP_REPAIR, TCP_REPAIR_OFF_NO_WP);
  out.window = window.snd_wnd;
  return out;
}

Connection connect_to(const std::string& service, std::uint16_t port, const std::string& client) {
  Connection out;
  out.listener = listen_at(service, port);
  out.client = Fd(::socket(is_v6(service) ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Name from = name_of(client, 0), to = name_of(service, port);
  EXPECT_EQ(::bind(out.client.get(), from.get(), from.length), 0) << std::strerror(errno);
  EXPECT_EQ(::connect(out.client.get(), to.get(), to.length), 0) << std::strerror(errno);
  out.server = Fd(::accept4(out.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  sockaddr_storage self{};
  socklen_t length = sizeof(self);
  ::getsockname(out.client.get(), reinterpret_cast<sockaddr*>(&self), &length);
  out.service_port = port;
  // The port stands at the same place in both families' names.
  out.client_port = ntohs(reinterpret_cast<const sockaddr_in*>(&self)->sin_port);
  return out;
}

}  // namespace guideway::agent::test
