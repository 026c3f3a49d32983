#include "frames.h"

#include <arpa/inet.h>

#include <array>

namespace guideway::agent::test {

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes hex(const std::string& digits) {
  Bytes out;
  std::string pair;
  for (const char c : digits) {
    if (c == ' ') continue;
    pair += c;
    if (pair.size() < 2) continue;
    out.push_back(static_cast<std::uint8_t>(std::stoul(pair, nullptr, 16)));
    pair.clear();
  }
  return out;
}

Bytes be16(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

Bytes be32(std::uint32_t value) { return be16(value >> 16) + be16(value & 0xffff); }

bool is_v6(const std::string& address_text) { return address_text.find(':') != std::string::npos; }

Bytes address(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  inet_pton(is_v6(text) ? AF_INET6 : AF_INET, text.c_str(), bytes.data());
  return {bytes.begin(), bytes.begin() + (is_v6(text) ? 16 : 4)};
}

std::uint16_t checksum(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] << 8U : bytes[i];
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

Bytes ip(const Ip& h, const Bytes& payload) {
  if (is_v6(h.source))
    return be32(0x60000000U | static_cast<std::uint32_t>(h.tos) << 20) +
           be16(static_cast<std::uint32_t>(payload.size())) + Bytes{h.protocol, h.ttl} + address(h.source) +
           address(h.destination) + payload;
  const std::size_t length = 20 + h.options.size();
  Bytes out = Bytes{static_cast<std::uint8_t>(0x40 | length / 4), h.tos} +
              be16(static_cast<std::uint32_t>(length + payload.size())) + be16(0) + be16(h.fragment) +
              Bytes{h.ttl, h.protocol, 0, 0} + address(h.source) + address(h.destination) + h.options;
  const Bytes sum = be16(checksum(out));
  out[10] = sum[0];
  out[11] = sum[1];
  return out + payload;
}

Bytes tcp(std::uint16_t source, std::uint16_t destination, std::uint8_t flags, std::uint32_t sequence,
          std::uint32_t acknowledged, const Bytes& data) {
  return be16(source) + be16(destination) + be32(sequence) + be32(acknowledged) + Bytes{0x50, flags} +
         be16(512) + be32(0) + data;
}

Bytes udp(std::uint16_t source, std::uint16_t destination, const Bytes& payload) {
  return be16(source) + be16(destination) + be16(static_cast<std::uint32_t>(8 + payload.size())) + be16(0) +
         payload;
}

Bytes udp_summed(const Ip& outer, std::uint16_t source, std::uint16_t destination, const Bytes& payload) {
  Bytes out = udp(source, destination, payload);
  const Bytes pseudo = address(outer.source) + address(outer.destination) +
                       be32(static_cast<std::uint32_t>(out.size())) + be32(17);
  const std::uint16_t sum = checksum(pseudo + out);
  const Bytes bytes = be16(sum == 0 ? 0xffff : sum);
  out[6] = bytes[0];
  out[7] = bytes[1];
  return out;
}

Bytes gue(const Gue& h, const Bytes& inner) {
  const bool v6 = h.v6_hops || (!h.hops.empty() && is_v6(h.hops.front()));
  Bytes hops;
  for (const std::string& hop : h.hops) hops = hops + address(hop);
  const int length = h.length >= 0 ? h.length : static_cast<int>(1 + hops.size() / 4);
  const int type = h.type >= 0 ? h.type : v6 ? 1 : 0;
  const int count = h.count >= 0 ? h.count : static_cast<int>(h.hops.size());
  return Bytes{static_cast<std::uint8_t>(h.version_bits | length), h.protocol} + be16(h.flags) +
         be16(static_cast<std::uint32_t>(type)) + Bytes{h.next, static_cast<std::uint8_t>(count)} + hops +
         inner;
}

Bytes ethernet(const Bytes& packet, const Bytes& tags) {
  const bool v6 = !packet.empty() && packet[0] >> 4 == 6;
  return hex("02 00 00 00 00 11  02 00 00 00 00 02") + tags + be16(v6 ? 0x86dd : 0x0800) + packet;
}

}  // namespace guideway::agent::test
