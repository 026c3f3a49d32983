// Mbufs of every shape: in segments, without headroom, shared, with flags of their past; and none to be had.
#include <gtest/gtest.h>

#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

Bytes packet_of(std::size_t payload) {
  Bytes bytes(payload);
  for (std::size_t i = 0; i < payload; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  return ip({}, tcp({.payload = bytes}));
}

// The wrapped packet ends in the inner one, byte for byte, with nothing behind it.
void expect_wraps(const Outcome& outcome, const Bytes& inner) {
  ASSERT_EQ(name(outcome.verdict), "forward");
  ASSERT_EQ(outcome.frame.size(), 14 + 44 + inner.size());
  EXPECT_EQ(Bytes(outcome.frame.begin() + 14 + 44, outcome.frame.end()), inner);
}

TEST(Mbuf, SegmentsOfAnySize) {
  DirectorForTests director;
  const Bytes inner = packet_of(1000);
  for (const std::size_t segment : {15, 34, 40, 54, 55, 200, 512, 1053, 1054, 2048}) {
    SCOPED_TRACE(segment);
    expect_wraps(director.run(frame(inner), {.segment = segment}), inner);
  }
}

TEST(Mbuf, PaddingIsCutWhereverItLies) {
  DirectorForTests director;
  for (const std::size_t payload : {0, 1, 200}) {
    const Bytes inner = packet_of(payload);
    for (const std::size_t segment : {54, 60, 100, 254, 255, 260, 2048}) {
      for (const std::size_t padding : {1, 6, 300}) {
        SCOPED_TRACE(std::to_string(payload) + "/" + std::to_string(segment) + "/" + std::to_string(padding));
        expect_wraps(director.run(frame(inner, {.padding = padding}), {.segment = segment}), inner);
      }
    }
  }
}

TEST(Mbuf, WithoutHeadroomThePacketIsCopied) {
  DirectorForTests director;
  const Bytes inner = packet_of(1400);
  for (const unsigned headroom : {0U, 1U, 43U, 44U, 45U, 128U})
    expect_wraps(director.run(frame(inner), {.headroom = static_cast<std::uint16_t>(headroom)}), inner);
  expect_wraps(director.run(frame(inner), {.segment = 500, .headroom = 0}), inner);
}

TEST(Mbuf, StaleOffloadFlagsAreCleared) {
  DirectorForTests director;
  const Bytes inner = packet_of(10);
  expect_wraps(director.run(frame(inner), {.flags = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM |
                                                    RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_RX_RSS_HASH}),
               inner);
}

TEST(Mbuf, AWrongInnerChecksumStaysAsItIs) {
  DirectorForTests director;
  Bytes inner = packet_of(10);
  inner[20 + 16] ^= 0xff;
  expect_wraps(director.run(frame(inner)), inner);
}

// A clone shares its bytes with another owner, who must not see them change.
TEST(Mbuf, SharedBytesAreNotWrittenTo) {
  const Bytes whole = frame(packet_of(100));
  DirectorForTests director;
  rte_mbuf* original = Eal::get().make(whole);
  rte_mbuf* clone = rte_pktmbuf_clone(original, Eal::get().mbufs());
  const auto snapshot = director.snapshot();
  Outputs outputs;
  Burst burst;
  burst.size = 1;
  burst.packets[0] = clone;
  director.pipeline.run(burst, *snapshot, 0, outputs);
  ASSERT_EQ(burst.verdict[0], Verdict::forward);
  EXPECT_EQ(Eal::bytes(original), whole);
  rte_pktmbuf_free(outputs.port[DirectorForTests::lan].frames[0]);
  director.pipeline.sent(outputs.port[DirectorForTests::lan], 1, Verdict::drop_tx_full);
  rte_pktmbuf_free(original);
}

TEST(Mbuf, NoBufferIsADropOfItsOwn) {
  DirectorForTests director;
  const Bytes inner = packet_of(10);
  rte_mbuf* made = Eal::get().make(frame(inner), 2048, 0);
  std::vector<rte_mbuf*> hoard;
  while (rte_mbuf* mbuf = rte_pktmbuf_alloc(Eal::get().mbufs())) hoard.push_back(mbuf);
  const auto snapshot = director.snapshot();
  Outputs outputs;
  Burst burst;
  burst.size = 1;
  burst.packets[0] = made;
  director.pipeline.run(burst, *snapshot, 0, outputs);
  EXPECT_EQ(burst.verdict[0], Verdict::drop_no_buffer);
  EXPECT_EQ(outputs.to_ports, 0U);
  for (rte_mbuf* mbuf : hoard) rte_pktmbuf_free(mbuf);
  director.expect_balance();
}

}  // namespace
}  // namespace guideway::testing
