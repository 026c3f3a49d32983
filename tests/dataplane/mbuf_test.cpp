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
  for (const std::size_t segment : {1, 10, 15, 34, 40, 54, 55, 200, 512, 1053, 1054, 2048}) {
    SCOPED_TRACE(segment);
    expect_wraps(director.run(frame(inner), {.segment = segment}), inner);
  }
}

TEST(Mbuf, HeadersThatStraddleSegmentsOfALongPacket) {
  DirectorForTests director;
  const Bytes inner = packet_of(8000);
  for (const std::size_t segment : {10, 14, 20, 40, 53, 54, 100, 1000, 2048}) {
    for (const std::vector<std::pair<std::uint16_t, std::uint16_t>>& tags :
         {std::vector<std::pair<std::uint16_t, std::uint16_t>>{}, {{0x88a8, 5}, {0x8100, 6}}}) {
      SCOPED_TRACE(std::to_string(segment) + (tags.empty() ? "" : ", tagged"));
      expect_wraps(director.run(frame(inner, {.tags = tags}), {.segment = segment}), inner);
    }
  }
}

TEST(Mbuf, HeadersThatStraddleSegmentsWithoutRoomInTheFirst) {
  DirectorForTests director;
  const Bytes inner = packet_of(4000);
  for (const std::size_t segment : {20, 40, 200}) {
    SCOPED_TRACE(segment);
    const auto headroom = static_cast<std::uint16_t>(RTE_MBUF_DEFAULT_BUF_SIZE - segment);
    expect_wraps(director.run(frame(inner), {.segment = segment, .headroom = headroom}), inner);
  }
}

// Eight headers of up to 2 KB are allowed; what does not fit into one mbuf is nobody's honest chain.
TEST(Mbuf, AChainOfExtensionHeadersLongerThanAnMbuf) {
  const auto chain_of = [](std::size_t headers, const char* destination) {
    Ip header = ipv6();
    header.destination = address(destination);
    header.first_header = net::protocol_destination_options;
    for (std::size_t i = 0; i < headers; ++i) {
      Bytes one(800);
      one[0] = i + 1 == headers ? net::protocol_tcp : net::protocol_destination_options;
      one[1] = 99;
      append(header.options, one);
    }
    return frame(ip(header, tcp()));
  };
  DirectorForTests director;
  for (const std::size_t segment : {40, 500, 2048}) {
    SCOPED_TRACE(segment);
    EXPECT_EQ(name(director.run(chain_of(2, "2001:db8:2::10"), {.segment = segment}).verdict), "forward");
    EXPECT_EQ(name(director.run(chain_of(3, "2001:db8:2::10"), {.segment = segment}).verdict),
              "bad_extension");
    const Bytes elsewhere = chain_of(3, "2001:db8:2::11");
    EXPECT_EQ(director.run(elsewhere, {.segment = segment}).frame, elsewhere) << "the kernel's to judge";
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

TEST(Mbuf, SharedSegmentsAreNotWrittenToWhenHeadersAreGathered) {
  const Bytes whole = frame(packet_of(3000));
  DirectorForTests director;
  for (const bool cloned : {true, false}) {
    rte_mbuf* original = Eal::get().make(whole, 40);
    // Either a clone, or the very mbufs held twice.
    rte_mbuf* other = original;
    if (cloned) {
      other = rte_pktmbuf_clone(original, Eal::get().mbufs());
    } else {
      rte_pktmbuf_refcnt_update(original, 1);
    }
    const auto snapshot = director.snapshot();
    Outputs outputs;
    Burst burst;
    burst.size = 1;
    burst.packets[0] = other;
    director.pipeline.run(burst, *snapshot, 0, outputs);
    ASSERT_EQ(name(burst.verdict[0]), "forward");
    EXPECT_EQ(Eal::bytes(original), whole);
    EXPECT_EQ(original->data_len, 40);
    rte_pktmbuf_free(outputs.port[DirectorForTests::lan].frames[0]);
    director.pipeline.sent(outputs.port[DirectorForTests::lan], 1, Verdict::drop_tx_full);
    rte_pktmbuf_free(original);
  }
}

// Neither for more headroom nor for headers that are to be gathered.
class NoBuffer : public ::testing::TestWithParam<RunOptions> {};

TEST_P(NoBuffer, IsADropOfItsOwn) {
  DirectorForTests director;
  const Bytes inner = packet_of(10);
  rte_mbuf* made = Eal::get().make(frame(inner), GetParam().segment, GetParam().headroom);
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

INSTANTIATE_TEST_SUITE_P(
    Shapes, NoBuffer,
    ::testing::Values(RunOptions{.headroom = 0},
                      RunOptions{.segment = 40, .headroom = RTE_MBUF_DEFAULT_BUF_SIZE - 40},
                      RunOptions{.segment = 10, .headroom = RTE_MBUF_DEFAULT_BUF_SIZE - 10}));

}  // namespace
}  // namespace guideway::testing
