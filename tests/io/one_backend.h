// One backend: the smallest site there is, and a packet for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "snapshot/snapshot.h"

namespace guideway {

inline constexpr std::array<std::uint8_t, 4> backend_address{10, 0, 1, 11}, director_address{10, 0, 0, 2};
inline constexpr MacAddress backend_mac{2, 0, 0, 0, 1, 11};

inline IpAddress ipv4(std::array<std::uint8_t, 4> bytes) {
  IpAddress out;
  std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

// One service, 203.0.113.10:80, over one backend.
inline std::shared_ptr<const Snapshot> one_backend(NextHopIndex next_hop, std::uint64_t epoch) {
  auto pool = std::make_shared<SnapshotPool>();
  pool->name = "web";
  pool->outer_source = ipv4(director_address);
  Row row;
  row.hop[0] = 0;
  row.takes_new = 1;
  pool->rows = RowTable(std::vector<Row>(251, row));
  pool->backends.push_back({ipv4(backend_address), BackendId{1}, next_hop});
  auto out = std::make_shared<Snapshot>();
  out->epoch = Epoch{epoch};
  const std::array rules{ServiceRule{.address = ipv4({203, 0, 113, 10}), .ports = {{80, 80}}, .service = 0}};
  out->lookup = ServiceTable::build(rules);
  out->services.push_back({"www", ServiceId{0}, pool.get()});
  out->add_pool(std::move(pool));
  return out;
}

inline constexpr std::size_t syn_headers = 20 + 20;

// Ethernet, IPv4, TCP SYN from 198.51.100.7 and the given port, with `payload` zero bytes.
inline std::vector<std::uint8_t> syn(const MacAddress& to, std::uint16_t source_port,
                                     std::size_t payload = 0) {
  std::vector<std::uint8_t> frame(14 + syn_headers + payload);
  std::copy(to.begin(), to.end(), frame.begin());
  frame[6] = 2;
  frame[12] = 0x08;
  const auto length = syn_headers + payload;
  const std::uint8_t ip[20] = {0x45,
                               0,
                               static_cast<std::uint8_t>(length >> 8),
                               static_cast<std::uint8_t>(length),
                               0,
                               0,
                               0x40,
                               0,
                               64,
                               6,
                               0,
                               0,
                               198,
                               51,
                               100,
                               7,
                               203,
                               0,
                               113,
                               10};
  std::memcpy(&frame[14], ip, sizeof ip);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 20; i += 2) sum += frame[14 + i] * 256U + frame[15 + i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  frame[24] = static_cast<std::uint8_t>(~sum >> 8);
  frame[25] = static_cast<std::uint8_t>(~sum);
  frame[34] = static_cast<std::uint8_t>(source_port >> 8);
  frame[35] = static_cast<std::uint8_t>(source_port);
  frame[37] = 80;
  frame[46] = 0x50;
  frame[47] = 0x02;
  return frame;
}

}  // namespace guideway
