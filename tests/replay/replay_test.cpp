// Whole replays: made captures with known answers, and the captures beside the project.
#include "replay/replay.h"

#include <gtest/gtest.h>
#include <rte_eal.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "io/packet_memory.h"
#include "net/gue.h"
#include "replay/at_command.h"
#include "replay/report.h"
#include "state/site_file.h"
#include "tests/replay/capture_file.h"

namespace guideway::testing {
namespace {

PacketMemory& memory() {
  static auto started = PacketMemory::start();
  EXPECT_TRUE(started.has_value());
  return *started;
}

TEST(Replay, LeavesNoDirectoryOfDpdks) {
  (void)memory();
  EXPECT_FALSE(std::filesystem::exists(rte_eal_get_runtime_dir())) << rte_eal_get_runtime_dir();
}

std::string site_text(const std::vector<std::string>& services, bool flow_table = true, unsigned hops = 3) {
  std::string text =
      "hash_seed = \"0x5eed\"\n[[pool]]\nname = \"web\"\nrows = 251\nhops = " + std::to_string(hops) +
      "\nflow_table = " + (flow_table ? "true" : "false") + "\n";
  for (const char* n : {"1", "2", "3"})
    text += std::string("[[pool.backend]]\nname = \"b") + n + "\"\naddress = \"10.0.1.1" + n + "\"\n";
  for (std::size_t i = 0; i < services.size(); ++i)
    text += "[[service]]\nname = \"s" + std::to_string(i) + "\"\n" + services[i] + "pool = \"web\"\n";
  return text;
}

std::string service(const std::string& address, const std::string& protocol = "tcp",
                    const std::string& ports = "\"any\"") {
  return "address = \"" + address + "\"\nprotocol = \"" + protocol + "\"\nports = " + ports + "\n";
}

struct Outcome {
  nlohmann::json report;
  std::vector<Bytes> frames;
  std::optional<Error> error;
};

Outcome run(const std::string& site, const std::string& capture_path, const std::vector<AtCommand>& at = {},
            const DirectorConfig& config = replay_defaults()) {
  const TemporaryDirectory directory;
  auto parsed = parse_site(site, "site.toml");
  EXPECT_TRUE(parsed.has_value()) << parsed.error().text();
  auto director = ReplayDirector::start(parsed->site, config, memory().mbufs());
  EXPECT_TRUE(director.has_value()) << director.error().text();
  auto capture = Capture::open(capture_path);
  EXPECT_TRUE(capture.has_value()) << capture.error().text();
  auto writer = CaptureWriter::create(directory.path("out.pcap"));
  Audit audit;
  const ReplayParts parts{
      **director,
      *capture,
      &*writer,
      audit,
      [](std::span<const std::uint8_t> bytes) { return memory().make(bytes); },
      [&](const std::string& line, std::chrono::milliseconds now) { return run_at(**director, line, now); }};
  auto result = replay(parts, at);
  EXPECT_EQ(rte_mempool_in_use_count(memory().mbufs()), 0U) << "mbufs leaked";
  Outcome outcome;
  if (!result) {
    outcome.error = result.error();
    return outcome;
  }
  EXPECT_TRUE(writer->finish().has_value());
  outcome.report = report_json(*result, **director, audit.report(), capture->link_type());
  auto out = Capture::open(directory.path("out.pcap"));
  for (auto next = out->next(); next && *next; next = out->next())
    outcome.frames.emplace_back((*next)->bytes.begin(), (*next)->bytes.end());
  return outcome;
}

std::uint64_t sum(const nlohmann::json& verdicts, const char* key) {
  std::uint64_t out = 0;
  for (const auto& kind : verdicts)
    for (const auto& entry : kind) out += entry[key].get<std::uint64_t>();
  return out;
}

void expect_balance(const nlohmann::json& report) {
  EXPECT_EQ(sum(report["verdicts"], "packets"), report["packets_in"]);
  EXPECT_EQ(sum(report["verdicts"], "bytes"), report["bytes_in"]);
  EXPECT_EQ(report["capture"]["packets"], report["packets_in"]);
}

// 64 connections, each a SYN and `rounds` data packets, in turn, a millisecond apart.
Bytes connections(unsigned rounds) {
  std::vector<Recorded> packets;
  for (unsigned round = 0; round <= rounds; ++round) {
    for (std::uint16_t n = 0; n < 64; ++n) {
      const L4 l4{.source_port = static_cast<std::uint16_t>(20000 + n),
                  .flags = round == 0 ? tcp_syn : tcp_ack};
      packets.push_back({frame(ip({}, tcp(l4))), 1000, static_cast<std::uint32_t>(packets.size()) * 1000, 0});
    }
  }
  return pcap_bytes(packets);
}

const std::vector<std::string> web = {service("203.0.113.10", "tcp", "[80]")};

TEST(Replay, AFrameIsTheDesignsBytes) {
  const TemporaryDirectory directory;
  const Bytes inner = ip({}, tcp());
  const Outcome outcome =
      run(site_text(web, true, 1), directory.write("in.pcap", pcap_bytes({{frame(inner), 1, 2, 0}})));
  ASSERT_EQ(outcome.frames.size(), 1U);
  const FlowTuple tuple{Ip{}.source, Ip{}.destination, 40000, 80, 6};
  const std::uint64_t hash = flow_hash(tuple, 0x5eed);
  const Bytes& out = outcome.frames[0];
  ASSERT_EQ(out.size(), 14 + 36 + inner.size());
  const std::uint8_t last = out[14 + 19];  // which backend
  Bytes expected = from_hex("0267 0a00 01");
  expected.push_back(last);
  append(expected, from_hex("0267 7700 0000 0800 4500"));
  append16(expected, static_cast<std::uint32_t>(36 + inner.size()));
  append(expected, from_hex("0000 4000 4011 0000 c000 0201 0a00 01"));
  expected.push_back(last);
  fix_ipv4_checksum(expected, 14);
  append16(expected, static_cast<std::uint32_t>(0xc000 | hash >> 50));
  append16(expected, 19523);
  append16(expected, static_cast<std::uint32_t>(16 + inner.size()));
  append(expected, from_hex("0000 0104 0000 0000 0000"));
  append(expected, inner);
  EXPECT_EQ(out, expected);
}

struct Drain {
  const char* description;
  bool flow_table;
  unsigned hops;
  std::vector<AtCommand> at;
  bool breaks;
  bool loses = false;  // connections with a backend that is down
};

TEST(Replay, CommandsInMidFlow) {
  const std::vector<Drain> cases = {
      {"nothing", true, 3, {}, false},
      {"drain", true, 3, {{80, "backend drain web b1"}}, false},
      {"drain and undrain without a flow table",
       false,
       3,
       {{80, "backend drain web b1"}, {150, "backend undrain web b1"}},
       false},
      {"a drain undone", true, 3, {{80, "backend drain web b1"}, {150, "undo"}}, false},
      {"add without a flow table", false, 3, {{80, "backend add web b4 10.0.1.14"}}, false},
      {"drain, then remove with force: its own connections break",
       true,
       3,
       {{80, "backend drain web b1"}, {150, "backend remove web b1 --force"}},
       true},
      {"one hop, no flow table: only the second chance would have saved them",
       false,
       1,
       {{80, "backend drain web b1 --force"}},
       true},
      {"down: its own connections are lost with it", true, 3, {{80, "health set web b1 down"}}, false, true},
      {"down, without a flow table", false, 3, {{80, "health set web b1 down"}}, false, true},
      {"down, one hop, no flow table", false, 1, {{80, "health set web b1 down"}}, false, true},
      {"down and up again at once",
       true,
       3,
       {{80, "health set web b1 down"}, {80, "health set web b1 auto"}},
       false},
      {"all are down",
       true,
       3,
       {{80, "health set web b1 down"}, {80, "health set web b2 down"}, {80, "health set web b3 down"}},
       false,
       true},
  };
  const TemporaryDirectory directory;
  const std::string path = directory.write("in.pcap", connections(3));
  for (const Drain& c : cases) {
    SCOPED_TRACE(c.description);
    const Outcome outcome = run(site_text(web, c.flow_table, c.hops), path, c.at);
    ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
    expect_balance(outcome.report);
    EXPECT_EQ(outcome.report["verdicts"]["pass"]["forward"]["packets"], 256);
    EXPECT_EQ(outcome.report["connections"]["flows"], 64);
    EXPECT_EQ(outcome.report["connections"]["broken"].get<int>() > 0, c.breaks)
        << outcome.report["connections"];
    EXPECT_EQ(outcome.report["connections"]["lost_with_backend"].get<int>() > 0, c.loses)
        << outcome.report["connections"];
    EXPECT_EQ(outcome.report["epochs"].size(), 1 + c.at.size());
    EXPECT_EQ(outcome.frames.size(), 256U);
  }
}

// A segment that is too long for the way is answered, and its connection goes on.
TEST(Replay, ATooBigSegmentBreaksNothing) {
  const TemporaryDirectory directory;
  std::vector<Recorded> packets;
  const auto add = [&](std::uint8_t flags, std::size_t payload) {
    const L4 l4{.flags = flags, .payload = Bytes(payload)};
    packets.push_back({frame(ip({}, tcp(l4))), 1, static_cast<std::uint32_t>(packets.size()), 0});
  };
  add(tcp_syn, 0);
  add(tcp_ack, 0);
  for (int n = 0; n < 60; ++n) add(tcp_ack, 1460);
  add(tcp_ack, 100);
  DirectorConfig config = replay_defaults();
  config.ports[0].mtu = 1500;
  const Outcome outcome = run(site_text(web), directory.write("in.pcap", pcap_bytes(packets)), {}, config);
  // Beyond what the rate limit lets be answered, too.
  EXPECT_EQ(outcome.report["verdicts"]["pass"]["answer"]["packets"], 50);
  EXPECT_EQ(outcome.report["verdicts"]["drop"]["too_big"]["packets"], 10);
  EXPECT_EQ(outcome.report["connections"]["broken"], 0) << outcome.report["connections"];
}

TEST(Replay, ARemovedServiceBreaksItsConnections) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("in.pcap", connections(3));
  const Outcome outcome = run(site_text(web), path, {{80, "service remove s0 --force"}});
  ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
  EXPECT_EQ(outcome.report["connections"]["broken"], 64);
}

TEST(Replay, UndoTakesTheLastChangeBack) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("in.pcap", connections(3));
  const Outcome plain = run(site_text(web, false), path);
  const Outcome undone = run(site_text(web, false), path, {{64, "backend drain web b1"}, {64, "undo"}});
  ASSERT_FALSE(undone.error.has_value()) << undone.error->text();
  EXPECT_EQ(undone.frames, plain.frames);
  const auto& epochs = undone.report["epochs"];
  EXPECT_EQ(epochs.back()["epoch"].get<int>(), epochs.front()["epoch"].get<int>() + 2);
  const Outcome nothing = run(site_text(web), path, {{64, "undo"}});
  ASSERT_TRUE(nothing.error.has_value());
  EXPECT_NE(nothing.error->text().find("no version before"), std::string::npos) << nothing.error->text();
}

// A backend that is added long after another left begins with nothing.
TEST(Replay, ANewBackendStartsAtZero) {
  const TemporaryDirectory directory;
  std::vector<Recorded> packets;
  const auto add = [&](std::uint16_t port, std::uint32_t second) {
    packets.push_back({frame(ip({}, tcp({.source_port = port, .flags = tcp_syn}))), second, 0, 0});
  };
  for (std::uint16_t n = 0; n < 300; ++n) add(static_cast<std::uint16_t>(4000 + n), 1000);
  for (std::uint16_t n = 0; n < 10; ++n) add(static_cast<std::uint16_t>(9000 + n), 3000);
  const Outcome outcome =
      run(site_text(web), directory.write("in.pcap", pcap_bytes(packets)),
          {{290, "backend remove web b1 --force"}, {301, "backend add web b9 10.0.1.19"}});
  ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
  for (const auto& backend : outcome.report["backends"]) {
    if (backend["backend"] == "b9") {
      EXPECT_LE(backend["packets"], 9) << backend;
    }
  }
}

// With all backends down health is ignored: a UDP flow stays one flow.
TEST(Replay, AUdpFlowStaysWhereAllAreDown) {
  const TemporaryDirectory directory;
  Ip header;
  header.protocol = net::protocol_udp;
  const Bytes datagram = frame(ip(header, udp({.destination_port = 53})));
  std::vector<Recorded> packets;
  for (std::uint32_t n = 0; n < 20; ++n) packets.push_back({datagram, 1000, n * 10'000, 0});
  const Outcome outcome = run(
      site_text({service("203.0.113.10", "udp", "[53]")}), directory.write("in.pcap", pcap_bytes(packets)),
      {{0, "health set web b1 down"}, {0, "health set web b2 down"}, {0, "health set web b3 down"}});
  ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
  EXPECT_EQ(outcome.report["verdicts"]["pass"]["forward"]["packets"], 20);
  EXPECT_EQ(outcome.report["flows"]["created"], 1);
}

TEST(Replay, ACommandActsBeforeItsPacket) {
  const TemporaryDirectory directory;
  std::vector<Recorded> syns;
  for (std::uint16_t n = 0; n < 100; ++n)
    syns.push_back(
        {frame(ip({}, tcp({.source_port = static_cast<std::uint16_t>(1000 + n), .flags = tcp_syn}))), 1, 0,
         0});
  const std::string path = directory.write("in.pcap", pcap_bytes(syns));
  const Outcome outcome = run(site_text(web), path, {{37, "backend drain web b1"}});
  ASSERT_EQ(outcome.frames.size(), 100U);
  unsigned before = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const bool drained = outcome.frames[i][14 + 19] == 11;
    if (i < 37) before += drained;
    if (i >= 37) {
      EXPECT_FALSE(drained) << i;
    }
  }
  EXPECT_GT(before, 0U);
}

TEST(Replay, ARefusedCommandEndsTheRun) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("in.pcap", connections(1));
  for (const char* line :
       {"backend drain web nobody", "backend drain", "status", "bogus", "backend remove web b1"}) {
    const Outcome outcome = run(site_text(web), path, {{70, line}});
    ASSERT_TRUE(outcome.error.has_value()) << line;
    EXPECT_NE(outcome.error->text().find("--at 70:"), std::string::npos) << outcome.error->text();
  }
}

TEST(Replay, WhatTheCaptureDoesNotReach) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("in.pcap", connections(0));
  const Outcome outcome = run(site_text(web), path, {{1000, "backend drain web b1"}});
  EXPECT_EQ(outcome.report["not_reached"].size(), 1U);
  EXPECT_EQ(outcome.report["epochs"].size(), 1U);
}

TEST(Replay, CutFramesAreTruncated) {
  const TemporaryDirectory directory;
  const Bytes whole = frame(ip({}, tcp()));
  const Outcome outcome =
      run(site_text(web), directory.write("in.pcap", pcap_bytes({{whole, 1, 0, 5}, {whole, 1, 0, 0}})));
  EXPECT_EQ(outcome.report["verdicts"]["drop"]["truncated"]["packets"], 1);
  EXPECT_EQ(outcome.report["verdicts"]["pass"]["forward"]["packets"], 1);
}

TEST(Replay, TimeIsTheCaptures) {
  const TemporaryDirectory directory;
  const auto packet = [](std::uint8_t flags, std::uint32_t second) {
    return Recorded{frame(ip({}, tcp({.flags = flags}))), second, 0, 0};
  };
  // A fresh entry lasts ten seconds; behind them the packet is no longer tracked.
  const auto tracked = [&](std::uint32_t second) {
    const Outcome outcome =
        run(site_text(web),
            directory.write("in.pcap", pcap_bytes({packet(tcp_syn, 100), packet(tcp_ack, second)})));
    std::uint64_t out = 0;
    for (const auto& backend : outcome.report["backends"])
      out += backend["tracked_packets"].get<std::uint64_t>();
    return out;
  };
  EXPECT_EQ(tracked(109), 1U);
  EXPECT_EQ(tracked(111), 0U);
}

// --- Captures beside the project ---

struct Real {
  const char* file;
  std::vector<std::string> addresses;
  std::uint64_t packets;
};

class RealCapture : public ::testing::TestWithParam<Real> {
 protected:
  std::string path() const { return std::string(GUIDEWAY_PCAPS) + "/" + GetParam().file; }
  std::string site(bool flow_table) const {
    std::vector<std::string> services;
    for (const std::string& address : GetParam().addresses) services.push_back(service(address));
    return site_text(services, flow_table);
  }
  void SetUp() override {
    if (!std::filesystem::exists(path())) GTEST_SKIP() << path() << " is not there";
  }
};

TEST_P(RealCapture, EveryPacketCountsOnceAndAFlowStays) {
  for (const bool flow_table : {true, false}) {
    const Outcome outcome = run(site(flow_table), path());
    ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
    expect_balance(outcome.report);
    EXPECT_EQ(outcome.report["packets_in"], GetParam().packets);
    EXPECT_GT(outcome.report["verdicts"]["pass"]["forward"]["packets"], 0);
    EXPECT_EQ(outcome.report["connections"]["broken"], 0);
    EXPECT_EQ(outcome.report["connections"]["packets_passed_on"], 0);

    // Flow -> the backend that the frame is addressed to.
    std::map<std::string, std::string> homes;
    for (const Bytes& out : outcome.frames) {
      const Bytes backend(out.begin() + 14 + 16, out.begin() + 14 + 20);
      const std::span<const std::uint8_t> gue(out.data() + 14 + 28, out.size() - 14 - 28);
      const auto header = net::parse_gue(gue);
      ASSERT_TRUE(header.has_value());
      const auto inner = gue.subspan(header->size);
      Packet packet;
      ASSERT_EQ(net::parse_ip(inner, inner.size(), header->inner_family, false, packet), Verdict::forward);
      ASSERT_EQ(packet.ip_length, inner.size()) << "padding was wrapped";
      const std::size_t address_size = packet.family == Family::ipv4 ? 4 : 16;
      std::string flow(reinterpret_cast<const char*>(net::source_address(inner.data(), packet.family)),
                       2 * address_size);
      flow += std::to_string(packet.source_port) + "/" + std::to_string(packet.destination_port);
      const auto [home, first] = homes.try_emplace(flow, backend.begin(), backend.end());
      EXPECT_EQ(home->second, std::string(backend.begin(), backend.end()));
    }
  }
}

TEST_P(RealCapture, ADrainInMidFlowBreaksNothing) {
  for (const bool flow_table : {true, false}) {
    for (const char* backend : {"b1", "b2", "b3"}) {
      const Outcome outcome = run(site(flow_table), path(),
                                  {{GetParam().packets / 2, std::string("backend drain web ") + backend}});
      ASSERT_FALSE(outcome.error.has_value()) << outcome.error->text();
      expect_balance(outcome.report);
      EXPECT_EQ(outcome.report["connections"]["broken"], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RealCapture,
                         ::testing::ValuesIn(std::vector<Real>{
                             {"tcp4-accecn-handshake.pcap", {"66.228.43.12"}, 6},
                             {"tcp4-options.pcap", {"193.1.193.64"}, 4},
                             {"tcp4-rst-inject.pcap", {"1.2.0.3"}, 9},
                             {"tcp4-syn-synack.pcap", {"192.150.187.43"}, 2},
                             {"tcp6-ftp.pcap", {"2001:6f8:200:1::5:33"}, 37},
                             {"vlan-http.pcap", {"192.150.187.43"}, 14},
                             {"qinq-http.pcap", {"192.150.187.43"}, 14}}),
                         [](const auto& tested) {
                           std::string out = tested.param.file;
                           for (char& c : out) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return out;
                         });

}  // namespace
}  // namespace guideway::testing
