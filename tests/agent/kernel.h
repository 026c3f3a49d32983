// Kernel: what the program tests need of the running kernel.
// What: a network namespace of the test's own with the addresses of addresses.h on its loopback, the programs loaded, and
//       one frame run through a program by BPF_PROG_TEST_RUN, which moves no packet on any interface.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "agent/program.h"
#include "frames.h"

namespace guideway::agent::test {

// Empty, or why the tests of programs cannot run here.
[[nodiscard]] std::string kernel_refusal();

struct Outcome {
  std::uint32_t action = 0;       // XDP_*
  Bytes frame;                    // without metadata
  std::optional<Bytes> metadata;  // where the kernel tells
};
[[nodiscard]] Outcome run_xdp(int program, const Bytes& frame);

// A TCP connection inside the test's namespace, client to service.
struct Connection {
  Fd listener, client, server;
  std::uint16_t client_port = 0, service_port = 0;
};
[[nodiscard]] Connection connect_to(const std::string& service, std::uint16_t port,
                                    const std::string& client);
// Where an open connection stands, seen from one of its sockets, which may share its port with none afterwards.
struct Numbers {
  std::uint32_t sent = 0, received = 0;  // the next sequence number of either direction
  std::uint32_t window = 0;              // bytes that the other side takes
};
[[nodiscard]] Numbers numbers_of(const Fd& socket);
[[nodiscard]] Fd listen_at(const std::string& service, std::uint16_t port);

}  // namespace guideway::agent::test
