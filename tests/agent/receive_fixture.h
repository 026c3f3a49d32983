// ReceiveFixture: the agent's XDP program, loaded for its tests by table.
// What: a frame in; a verdict's counter, an action and a frame out. Each test runs with both objects.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "addresses.h"
#include "kernel.h"

namespace guideway::agent::test {

inline const std::string director = "10.0.0.2", self = "10.0.0.11", peer = "10.0.0.12", stranger = "10.9.9.9";
inline const std::string director6 = "fd00::2", self6 = "fd00::11", peer6 = "fd00::12",
                         stranger6 = "fd00:9::9";
inline constexpr std::uint16_t gue_port = 19523;

// Protocols of IP.
inline constexpr std::uint8_t icmp = 1, ipip = 4, tcp_ = 6, udp_ = 17, v6_in_ip = 41, gre = 47, icmp6 = 58;

[[nodiscard]] Prefix prefix(const std::string& text);
// Directors, peers, service and local addresses as the tests have them loaded.
[[nodiscard]] Lists lists();

// From the client to the service address.
[[nodiscard]] Bytes inner4(const Bytes& l4, std::uint8_t protocol = tcp_, std::uint8_t tos = 0);
[[nodiscard]] Bytes inner6(const Bytes& l4, std::uint8_t protocol = tcp_, std::uint8_t tos = 0);
// The frame of a director, over IPv4 and over IPv6.
[[nodiscard]] Bytes to4(const Gue& header, const Bytes& inner, const Ip& outer = {director, self, udp_});
[[nodiscard]] Bytes to6(Gue header, const Bytes& inner, const Ip& outer = {director6, self6, udp_});

struct FrameCase {
  std::string description;
  Bytes in;
  std::string counter;  // of the verdict; "" for frames that are no business of ours
  Bytes out;            // empty: as it came in
};

class ReceiveTest : public testing::TestWithParam<bool> {  // true: the portable object
 protected:
  void SetUp() override;

  // Names of the counters that a run of `frame` raised, "of_" ones left out.
  std::string counted(const Bytes& frame, Outcome* outcome);
  void check(const std::vector<FrameCase>& cases);

  std::optional<Program> program_;
  std::optional<Maps> maps_;
};

[[nodiscard]] std::string object_name(const testing::TestParamInfo<bool>& portable);

}  // namespace guideway::agent::test
