// Fuzz: packets as ICMP errors quote them, on heap buffers of exact size; the first byte is the family.
#include <cstdint>
#include <cstdlib>

#include "net/packet.h"
#include "net/protocols.h"
#include "tests/net/exact_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guideway;
  if (size == 0) return 0;
  const testing::ExactBytes exact({data + 1, size - 1});
  const Family family = (data[0] & 1) != 0 ? Family::ipv6 : Family::ipv4;
  Packet packet;
  if (!net::parse_quote(exact.span(), family, packet)) return 0;
  const bool ported = packet.protocol == net::protocol_tcp || packet.protocol == net::protocol_udp;
  if (packet.family != family || !ported || packet.fragment_offset != 0) std::abort();
  if (std::size_t{packet.l4_offset} + 8 > size - 1) std::abort();
  return 0;
}
