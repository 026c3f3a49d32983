// Frames: packets put together byte by byte, for the tables of the agent's tests.
// Why: written apart from src/net and src/bpf, so that a mistake there cannot hide here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace guideway::agent::test {

using Bytes = std::vector<std::uint8_t>;

[[nodiscard]] Bytes operator+(Bytes a, const Bytes& b);
[[nodiscard]] Bytes hex(const std::string& digits);  // blanks are skipped
[[nodiscard]] Bytes be16(std::uint32_t value);
[[nodiscard]] Bytes be32(std::uint32_t value);
[[nodiscard]] Bytes address(const std::string& text);

struct Ip {
  std::string source, destination;  // both of one family; it decides the version
  std::uint8_t protocol = 0;
  std::uint8_t tos = 0;
  std::uint16_t fragment = 0;  // IPv4 flags and offset
  Bytes options = {};          // IPv4, a multiple of four bytes
  std::uint8_t ttl = 64;
};
[[nodiscard]] Bytes ip(const Ip& header, const Bytes& payload);
[[nodiscard]] bool is_v6(const std::string& address_text);

enum TcpFlags : std::uint8_t { fin = 1, syn = 2, rst = 4, psh = 8, ack = 16 };
[[nodiscard]] Bytes tcp(std::uint16_t source, std::uint16_t destination, std::uint8_t flags,
                        std::uint32_t sequence = 1000, std::uint32_t acknowledged = 2000,
                        const Bytes& data = {});

// The outer UDP header with a right checksum over `outer`, or with none.
[[nodiscard]] Bytes udp(std::uint16_t source, std::uint16_t destination, const Bytes& payload);
[[nodiscard]] Bytes udp_summed(const Ip& outer, std::uint16_t source, std::uint16_t destination,
                               const Bytes& payload);

struct Gue {
  std::uint8_t protocol = 4;
  std::vector<std::string> hops;
  std::uint8_t next = 0;
  int type = -1;         // -1: 0 for IPv4 hops, 1 for IPv6 hops or `v6_hops`
  bool v6_hops = false;  // for an empty list
  int length = -1;       // -1: what the hops make
  int count = -1;
  std::uint8_t version_bits = 0;  // version and control
  std::uint16_t flags = 0;
};
[[nodiscard]] Bytes gue(const Gue& header, const Bytes& inner);

[[nodiscard]] Bytes ethernet(const Bytes& packet, const Bytes& tags = {});

// One's complement sum of all words, complemented.
[[nodiscard]] std::uint16_t checksum(const Bytes& bytes);

}  // namespace guideway::agent::test
