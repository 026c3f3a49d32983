// Fuzz: the whole pipeline, over sequences of frames: headers, ICMP errors and their quotes, fragments, wrapping.
// What: the first byte picks encapsulation, families and MTU; then frames follow, each with its length (two bytes, big
//       endian) and a byte that says how much time passes before it and how the driver cut it. After every input: all
//       is counted once, no mbuf is lost, and what was wrapped holds the packet that came in, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "net/gre.h"
#include "net/gue.h"
#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

constexpr Encapsulation encapsulations[] = {Encapsulation::gue, Encapsulation::ipip, Encapsulation::gre,
                                            Encapsulation::l2};

void require(bool holds) {
  if (!holds) std::abort();
}

std::unique_ptr<DirectorForTests> director_for(std::uint8_t choice) {
  auto director = std::make_unique<DirectorForTests>((choice & 1) != 0 ? Family::ipv6 : Family::ipv4, 64);
  director->pool.encapsulation = encapsulations[choice >> 1 & 3];
  director->pool.flow_table = (choice & 8) != 0;
  director->ports.ports[DirectorForTests::lan].mtu = (choice & 16) != 0 ? 600 : 9000;
  director->pool.udp_checksum = (choice & 64) != 0;
  if ((choice & 32) != 0)
    for (ServiceRule& rule : director->rules) rule.ping = static_cast<std::uint8_t>(Ping::forward);
  director->rows.assign(251, Row{{0, 1, no_member}, 1});
  return director;
}

// Where the inner packet begins in a frame that left; checks the headers in front of it.
std::size_t inner_offset(const SnapshotPool& pool, const Bytes& frame) {
  constexpr std::size_t ethernet = 14;
  if (pool.encapsulation == Encapsulation::l2) return ethernet;
  const bool ipv4 = pool.outer_source.family == Family::ipv4;
  const std::size_t behind_ip = ethernet + (ipv4 ? 20 : 40);
  require(frame.size() > behind_ip);
  if (ipv4) require(net::checksum_holds({frame.data() + ethernet, 20}));
  const std::size_t length = ipv4 ? net::load_be16(frame.data() + ethernet + 2)
                                  : net::load_be16(frame.data() + ethernet + 4) + std::size_t{40};
  require(ethernet + length == frame.size());
  if (pool.encapsulation == Encapsulation::ipip) return behind_ip;
  if (pool.encapsulation == Encapsulation::gre) {
    require(net::parse_gre({frame.data() + behind_ip, frame.size() - behind_ip}).has_value());
    return behind_ip + net::gre_size;
  }
  const std::size_t gue = behind_ip + net::udp_size;
  const auto header = net::parse_gue({frame.data() + gue, frame.size() - gue});
  require(header && header->hop_count == 1);
  return gue + header->size;
}

void check(const SnapshotPool& pool, const Outcome& outcome, const Bytes& came) {
  require(outcome.verdict < Verdict::count_);
  if (outcome.verdict == Verdict::kernel) require(outcome.frame == came);
  if (outcome.verdict != Verdict::forward) return;
  const std::size_t at = inner_offset(pool, outcome.frame);
  for (const Bytes& piece : outcome.further) require(inner_offset(pool, piece) < piece.size());
  if (!outcome.further.empty()) return;
  require(std::search(came.begin(), came.end(), outcome.frame.begin() + static_cast<std::ptrdiff_t>(at),
                      outcome.frame.end()) != came.end());
}

void run_input(const std::uint8_t* data, std::size_t size) {
  // What the director for tests expects of every run is a fault of the run.
  GTEST_FLAG_SET(throw_on_failure, true);
  const unsigned in_use = Eal::get().in_use();
  const auto director = director_for(data[0]);
  std::vector<Bytes> frames;
  for (std::size_t at = 1; at + 3 <= size && frames.size() < 64;) {
    const std::size_t length = std::min<std::size_t>(net::load_be16(data + at), size - at - 3);
    const std::uint8_t how = data[at + 2];
    at += 3;
    if (length == 0) continue;
    director->now_ms += (how & 0xf0U) << 4;
    const Bytes frame(data + at, data + at + length);
    const std::size_t segments[] = {2048, 60, 40, 14};
    check(director->pool, director->run(frame, {.segment = segments[how & 3]}), frame);
    frames.push_back(frame);
    at += length;
  }
  director->now_ms += 10'000;
  for (const Outcome& outcome : director->run(frames)) require(outcome.verdict < Verdict::count_);
  director->now_ms += 10'000;
  director->poll();
  require(director->count(Verdict::held) == 0);
  require(Eal::get().in_use() == in_use);
}

}  // namespace
}  // namespace guideway::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) guideway::testing::run_input(data, size);
  return 0;
}
