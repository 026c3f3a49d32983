// IPv4 packets without DF that do not fit once wrapped: each piece wrapped with the same hops, and put together again
// they are the packet that came.
#include "dataplane/split.h"

#include <gtest/gtest.h>

#include "tests/dataplane/director_for_tests.h"
#include "tests/dataplane/fragments_for_tests.h"

namespace guideway::testing {
namespace {

constexpr std::size_t outer_size = 14 + 20 + 8 + 8;  // Ethernet and GUE with one hop

// The inner packets of what left for one packet.
std::vector<Bytes> inner_packets(const Outcome& outcome, std::size_t outer = outer_size) {
  std::vector<Bytes> out;
  std::vector<Bytes> frames = outcome.further;
  frames.insert(frames.begin(), outcome.frame);
  for (const Bytes& bytes : frames)
    out.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(outer), bytes.end());
  return out;
}

// What a host makes of the pieces: the first one's header with the whole length and no fragment field, and the payload.
Bytes put_together(const std::vector<Bytes>& pieces, std::uint16_t fragment) {
  Bytes payload;
  std::size_t expected = (fragment & 0x1fffU) * 8;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const Bytes& piece = pieces[n];
    const std::size_t header = std::size_t{piece[0]} % 16 * 4;
    EXPECT_TRUE(net::checksum_holds({piece.data(), header}));
    EXPECT_EQ(net::load_be16(piece.data() + 2), piece.size());
    const std::uint16_t field = net::load_be16(piece.data() + 6);
    EXPECT_EQ((field & 0x1fffU) * 8, expected);
    EXPECT_EQ((field & 0x2000) != 0, n + 1 < pieces.size() || (fragment & 0x2000) != 0);
    payload.insert(payload.end(), piece.begin() + static_cast<std::ptrdiff_t>(header), piece.end());
    expected += piece.size() - header;
  }
  Bytes whole(pieces[0].begin(), pieces[0].begin() + pieces[0][0] % 16 * 4);
  append(whole, payload);
  net::store_be16(whole.data() + 2, static_cast<std::uint16_t>(whole.size()));
  net::store_be16(whole.data() + 6, fragment);
  fix_ipv4_checksum(whole);
  return whole;
}

struct OneHop : DirectorForTests {
  explicit OneHop(std::uint16_t mtu = 1500, Family outer = Family::ipv4) : DirectorForTests(outer) {
    rows.assign(251, Row{{1, no_member, no_member}, 1});
    ports.ports[lan].mtu = mtu;
  }
};

TEST(Split, ThePiecesAreThePacket) {
  for (const std::uint16_t fragment : {std::uint16_t{0}, std::uint16_t{0x2000}}) {
    for (const std::size_t size : {1465, 1500, 2905, 2921, 5000, 8999}) {
      for (const std::size_t segment : {100, 700, 2048}) {
        OneHop director;
        Ip header;
        header.fragment = fragment;
        header.tos = 0x2e;
        Bytes payload(size - 40);
        for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::uint8_t>(i * 7);
        if (fragment != 0)
          payload.resize(payload.size() / 8 * 8 + 4);  // with 20 bytes of TCP a multiple of eight
        const Bytes packet = ip(header, tcp({.payload = payload}));
        const Outcome outcome = director.run(frame(packet), {.segment = segment});
        ASSERT_EQ(name(outcome.verdict), "forward");
        const auto pieces = inner_packets(outcome);
        EXPECT_EQ(put_together(pieces, fragment), packet) << size;
        EXPECT_EQ(pieces.size(), (packet.size() - 20 + 1439) / 1440) << size;
        for (const Bytes& piece : pieces) EXPECT_LE(piece.size(), 1464U);
        EXPECT_EQ(director.count(Verdict::forward), 1U) << "counted once";
      }
    }
  }
}

TEST(Split, EveryPieceHasTheHopsOfThePacket) {
  DirectorForTests director;
  director.ports.ports[DirectorForTests::lan].mtu = 1500;
  Ip header;
  header.fragment = 0;
  const Outcome outcome = director.run(frame(ip(header, tcp({.payload = Bytes(4000)}))));
  ASSERT_EQ(outcome.further.size(), 2U);
  for (const Bytes& piece : outcome.further) {
    EXPECT_LE(piece.size(), 1514U);
    // All of the outer headers but lengths and the checksum.
    EXPECT_EQ(Bytes(piece.begin(), piece.begin() + 16),
              Bytes(outcome.frame.begin(), outcome.frame.begin() + 16));
    EXPECT_EQ(Bytes(piece.begin() + 26, piece.begin() + 38),
              Bytes(outcome.frame.begin() + 26, outcome.frame.begin() + 38));
    EXPECT_EQ(Bytes(piece.begin() + 42, piece.begin() + 58),
              Bytes(outcome.frame.begin() + 42, outcome.frame.begin() + 58));
  }
}

// RFC 791: an option with the copied bit is in every piece, another one in the first alone.
TEST(Split, CopiesTheOptionsThatAreToBeCopied) {
  OneHop director;
  Ip header;
  header.fragment = 0;
  header.options =
      from_hex("94040000 07070400000000 01");  // router alert (copied); record route (not); no-operation
  const auto pieces = inner_packets(director.run(frame(ip(header, tcp({.payload = Bytes(2000)})))));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0][0], 0x48);
  EXPECT_EQ(Bytes(pieces[0].begin() + 20, pieces[0].begin() + 32), header.options);
  EXPECT_EQ(pieces[1][0], 0x46);
  EXPECT_EQ(Bytes(pieces[1].begin() + 20, pieces[1].begin() + 24), from_hex("94040000"));
}

TEST(Split, OptionsThatLie) {
  for (const char* options :
       {"94ff0000", "94000000", "94010000", "00ffffff", "01010194", "83030000 94040000 82"}) {
    OneHop director;
    Ip header;
    header.fragment = 0;
    header.options = from_hex(options);
    header.options.resize((header.options.size() + 3) / 4 * 4);
    const Bytes packet = ip(header, tcp({.payload = Bytes(3000)}));
    EXPECT_EQ(put_together(inner_packets(director.run(frame(packet))), 0), packet) << options;
  }
}

TEST(Split, OverIpv6) {
  OneHop director(1500, Family::ipv6);
  Ip header;
  header.fragment = 0;
  const Bytes packet = ip(header, tcp({.payload = Bytes(3000)}));
  EXPECT_EQ(put_together(inner_packets(director.run(frame(packet)), 14 + 40 + 8 + 8), 0), packet);
}

TEST(Split, WhereThePoolSaysDropOrThereIsNoRoom) {
  const auto verdict_of = [](OneHop& director, std::size_t size) {
    Ip header;
    header.fragment = 0;
    return std::string(name(director.run(frame(ip(header, tcp({.payload = Bytes(size)})))).verdict));
  };
  OneHop drops;
  drops.pool.too_big = TooBig::drop;
  EXPECT_EQ(verdict_of(drops, 2000), "too_big");
  OneHop too_narrow(36 + 27);
  EXPECT_EQ(verdict_of(too_narrow, 2000), "too_big") << "not even eight bytes a piece";
  OneHop no_room(36);
  EXPECT_EQ(verdict_of(no_room, 2000), "too_big");
  OneHop pieces_of_eight(36 + 28);
  EXPECT_EQ(verdict_of(pieces_of_eight, 2000), "too_big") << "too many pieces";
}

TEST(Split, AFullBurstOfThemLosesNothingByHalves) {
  OneHop director(600);
  Ip header;
  header.fragment = 0;
  const Bytes packet = ip(header, tcp({.payload = Bytes(5900)}));
  const auto outcomes = director.run(std::vector<Bytes>(burst_max, frame(packet)));
  std::size_t forwarded = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.verdict != Verdict::forward) {
      EXPECT_EQ(outcome.verdict, Verdict::drop_too_big);
      EXPECT_TRUE(outcome.further.empty());
      continue;
    }
    ++forwarded;
    EXPECT_EQ(put_together(inner_packets(outcome), 0), packet);
  }
  EXPECT_GE(forwarded, further_max / 11);
}

TEST(Split, APortThatTakesLittle) {
  OneHop director;
  Ip header;
  header.fragment = 0;
  const Bytes packet = frame(ip(header, tcp({.payload = Bytes(4000)})));
  for (std::uint16_t takes = 0; takes < 3; ++takes) {
    EXPECT_EQ(director.run(packet, {.port_takes = takes}).verdict, Verdict::drop_tx_full);
    EXPECT_EQ(director.count(Verdict::drop_tx_full), takes + 1U)
        << "lost once, however few of three pieces left";
    EXPECT_EQ(director.of_backends(&BackendCounters::packets), 0U) << "no backend got it";
  }
  EXPECT_EQ(director.run(packet, {.port_takes = 3}).verdict, Verdict::forward);

  // Pieces leave together: what is lost is the packet behind.
  const auto outcomes = director.run({packet, packet}, {.port_takes = 3});
  EXPECT_EQ(outcomes[0].verdict, Verdict::forward);
  EXPECT_EQ(inner_packets(outcomes[0]).size(), 3U);
  EXPECT_EQ(outcomes[1].verdict, Verdict::drop_tx_full);
}

}  // namespace
}  // namespace guideway::testing
