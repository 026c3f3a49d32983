// Ports that the kernel lends us: af_packet on veth pairs, and the TAP twin, in a network namespace of this process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "forwarding_director.h"
#include "io/frame_room.h"
#include "io/interface.h"
#include "running_eal.h"
#include "state/site.h"
#include "veth.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;

// Two veth pairs for all tests: wan (MTU 1500) and lan (MTU 1600); the tests hold their far ends.
class KernelPorts : public ::testing::Test {
 protected:
  static bool prepare() {
    static const bool ready =
        enter_own_network() && make_veth("wan", 1500) && make_veth("lan", 1600) && eal_runs();
    return ready;
  }

  void SetUp() override {
    if (!prepare()) GTEST_SKIP() << "skipped: needs root and veth interfaces";
    config_.flow_table_entries = 1024;
    config_.workers = {eal_workers().front()};
    config_.ports.resize(2);
    config_.ports[0].name = "wan";
    config_.ports[0].device = "af_packet:wan";
    config_.ports[1].name = "lan";
    config_.ports[1].device = "af_packet:lan";
    config_.ports[1].mtu = 1600;
  }

  void open() {
    auto opened = ForwardingDirector::open(config_);
    ASSERT_TRUE(opened) << opened.error().text();
    director_ = std::move(*opened);
    ASSERT_TRUE(director_->workers().start());
  }

  DirectorConfig config_;
  std::unique_ptr<ForwardingDirector> director_;
};

bool is_gue(const Frame& frame) {
  return frame.size() > 50 && frame[12] == 0x08 && frame[13] == 0 && frame[23] == 17 && frame[36] == 0x4c &&
         frame[37] == 0x43;  // UDP to 19523
}

TEST_F(KernelPorts, APacketComesInByOneInterfaceAndLeavesWrappedByTheOther) {
  ASSERT_NO_FATAL_FAILURE(open());
  const FarEnd client("wan-far"), backends("lan-far");
  const auto frame = syn(director_->mac(), 40000);
  ASSERT_TRUE(client.send(frame));
  const auto out = backends.receive(is_gue, 5s);
  ASSERT_TRUE(out) << "nothing arrived";
  ASSERT_EQ(out->size(), 14U + 20 + 8 + 8 + 40);
  EXPECT_TRUE(std::equal(frame.begin() + 14, frame.end(), out->begin() + 50)) << "the inner packet changed";
}

TEST_F(KernelPorts, TwoWorkersEachTakeTheirShare) {
  config_.workers = eal_workers();
  if (config_.workers.size() < 2) GTEST_SKIP() << "skipped: one CPU";
  ASSERT_NO_FATAL_FAILURE(open());
  const FarEnd client("wan-far"), backends("lan-far");
  constexpr std::size_t flows = 200;
  for (std::uint16_t port = 0; port < flows; ++port)
    ASSERT_TRUE(client.send(syn(director_->mac(), static_cast<std::uint16_t>(1024 + port))));
  std::size_t arrived = 0;
  while (arrived < flows && backends.receive(is_gue, 5s)) ++arrived;
  EXPECT_EQ(arrived, flows);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_GT(director_->workers().counters(i).verdicts.packets_in.get(), flows / 5) << i;
}

TEST_F(KernelPorts, WhatTheHostItselfSendsByTheInterfaceDoesNotComeIn) {
  ASSERT_NO_FATAL_FAILURE(open());
  const FarEnd host("wan"), client("wan-far"), backends("lan-far");
  const auto frame = syn(director_->mac(), 40000);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(host.send(frame));
  ASSERT_TRUE(client.send(frame));
  ASSERT_TRUE(backends.receive(is_gue, 5s)) << "nothing arrived";
  EXPECT_EQ(director_->workers().counters(0).verdicts.packets_in.get(), 1U);
}

// The interface is the host's: whatever way a port goes, it is as it was, to the last word. A fresh one each, since
// af_xdp's driver keeps its socket, and with it the queue, until the process ends.
TEST_F(KernelPorts, AnInterfaceIsAsItWas) {
  struct Case {
    const char *driver, *before;
    std::uint16_t mtu;
    bool promiscuous;
  };
  const char *plain = "multicast off", *curious = "promisc on allmulticast on";
  const Case cases[] = {
      {"af_packet", plain, 1580, false},  {"af_packet", plain, 1400, true},
      {"af_packet", plain, 1600, true},   {"af_packet", curious, 1400, false},
      {"af_packet", curious, 1580, true}, {"af_xdp", plain, 1580, false},
      {"af_xdp", plain, 1400, true},      {"af_xdp", curious, 1600, false},
  };
  for (const auto& c : cases)
    for (const bool refused : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, mtu {}, promiscuous {}, {} before, refused {}", c.driver, c.mtu,
                               c.promiscuous, c.before, refused));
      ASSERT_TRUE(make_veth("lent", 1600) && run(fmt::format("ip link set lent {}", c.before)));
      const auto look = [] { return output_of("ip -d link show lent; ip -d link show lent-far"); };
      const auto before = look();
      config_.ports.resize(2);
      config_.ports[1].device = fmt::format("{}:lent", c.driver);
      config_.ports[1].mtu = c.mtu;
      config_.ports[1].promiscuous = c.promiscuous;
      if (refused) {
        config_.ports.push_back(config_.ports[0]);
        config_.ports[2].device = "af_packet:nosuch";
        EXPECT_FALSE(Ports::open(config_));
      } else {
        ASSERT_NO_FATAL_FAILURE(open());
        EXPECT_EQ(interface_mtu("lent"), c.mtu);
        EXPECT_EQ(is_promiscuous("lent"), c.promiscuous);
        director_.reset();
      }
      EXPECT_EQ(look(), before);
      ASSERT_TRUE(run("ip link delete lent"));
    }
}

TEST_F(KernelPorts, AnMtuThatSomebodySetsMeanwhileStays) {
  ASSERT_TRUE(make_veth("lent", 1600));
  config_.ports[1].device = "af_packet:lent";
  config_.ports[1].mtu = 1580;
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_TRUE(run("ip link set lent mtu 1550"));
  director_.reset();
  EXPECT_EQ(interface_mtu("lent"), 1550);
  EXPECT_TRUE(run("ip link delete lent"));
}

Site site_of(std::array<std::uint8_t, 4> service) { return {.services = {{.address = ipv4(service)}}}; }

TEST_F(KernelPorts, AnInterfaceTellsItsDriver) {
  EXPECT_EQ(driver_of("wan"), "veth");
  EXPECT_EQ(driver_of("lo"), "");
  EXPECT_EQ(driver_of("nosuch"), "");
}

TEST_F(KernelPorts, AnAfXdpPortTakesServicesFromTheKernelAndGivesThemBack) {
  config_.ports[0].device = "af_xdp:wan";
  ASSERT_NO_FATAL_FAILURE(open());
  const FarEnd client("wan-far"), backends("lan-far");
  const auto steered = [&] { return director_->ports().all()[0].steering()->counts(); };
  const auto frame = syn(director_->mac(), 40000);

  ASSERT_TRUE(client.send(frame));
  EXPECT_FALSE(backends.receive(is_gue, 200ms)) << "no service is known, and yet it was taken";
  EXPECT_EQ(steered().to_socket, 0U);
  EXPECT_GE(steered().to_kernel, 1U);

  director_->ports().add_services(site_of({203, 0, 113, 10}));
  ASSERT_TRUE(client.send(frame));
  EXPECT_TRUE(backends.receive(is_gue, 5s));
  EXPECT_EQ(steered().to_socket, 1U);

  // A new version first adds, and takes away only what it has no more.
  const auto next = site_of({203, 0, 113, 11});
  director_->ports().add_services(next);
  ASSERT_TRUE(client.send(frame));
  EXPECT_TRUE(backends.receive(is_gue, 5s)) << "taken away too early";
  director_->ports().drop_other_services(next);
  ASSERT_TRUE(client.send(frame));
  EXPECT_FALSE(backends.receive(is_gue, 200ms)) << "not given back";
  EXPECT_EQ(steered().to_socket, 2U);
  EXPECT_EQ(steered().no_socket, 0U);

  director_.reset();
  EXPECT_TRUE(run("! ip link show wan | grep -q xdp")) << "the program stayed";
}

TEST_F(KernelPorts, AnAfXdpPortTellsOfServicesThatItsListDoesNotHold) {
  ASSERT_TRUE(make_veth("full", 1500));
  config_.ports[0].device = "af_xdp:full";
  ASSERT_NO_FATAL_FAILURE(open());
  auto& ports = director_->ports();
  const auto left_out = [&] { return ports.all()[0].steering()->counts().services_left_out; };
  constexpr std::size_t room = 65536;
  Site site;
  for (std::size_t n = 0; n < room + 2; ++n) {
    site.services.push_back(
        {.address = ipv4({10, static_cast<std::uint8_t>(n >> 16), static_cast<std::uint8_t>(n >> 8),
                          static_cast<std::uint8_t>(n)})});
  }
  ports.add_services(site);
  EXPECT_EQ(left_out(), 2U);
  // Room comes with the end of others.
  site.services.erase(0);
  ports.add_services(site);
  EXPECT_EQ(left_out(), 2U);
  ports.drop_other_services(site);
  EXPECT_EQ(left_out(), 1U);
  // The program takes nothing to an IPv4 address in IPv6's form.
  Site mapped = site_of({10, 0, 0, 1});
  mapped.services.push_back(
      {.address = IpAddress::parse("::ffff:203.0.113.10").value(), .prefix_length = 128});
  ports.add_services(mapped);
  EXPECT_EQ(left_out(), 1U);
  director_.reset();
  EXPECT_TRUE(run("ip link delete full"));
}

TEST_F(KernelPorts, AnAfXdpPortsServiceOfOneFamilyTakesNothingOfTheOther) {
  ASSERT_TRUE(make_veth("families", 1500));
  config_.ports[0].device = "af_xdp:families";
  ASSERT_NO_FATAL_FAILURE(open());
  const FarEnd client("families-far");
  const auto service = [](std::string_view text, std::uint8_t length) {
    return Site{.services = {{.address = IpAddress::parse(text).value(), .prefix_length = length}}};
  };
  const auto to_socket = [&](const Frame& frame) {
    const auto counts = [&] { return director_->ports().all()[0].steering()->counts(); };
    const auto before = counts();
    EXPECT_TRUE(client.send(frame));
    for (int i = 0;
         i < 1000 && counts().to_socket + counts().to_kernel == before.to_socket + before.to_kernel; ++i)
      std::this_thread::sleep_for(1ms);
    return counts().to_socket - before.to_socket;
  };
  const auto v4 = syn(director_->mac(), 40000);
  Frame v6(14 + 40 + 20);
  std::copy_n(v4.begin(), 12, v6.begin());
  const std::uint8_t header[] = {0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 59, 64, 0x20, 0x01};
  std::copy(std::begin(header), std::end(header), v6.begin() + 12);
  v6[14 + 24] = 0x20;  // to 2000::
  const struct {
    const char* description;
    Site site;
    std::uint64_t v4, v6;
  } cases[] = {
      {"all of IPv6", service("::", 0), 0, 1},
      {"all of IPv4", service("0.0.0.0", 0), 1, 0},
      {"IPv4 as IPv6 writes it", service("::ffff:0.0.0.0", 96), 0, 0},
  };
  for (const auto& c : cases) {
    director_->ports().add_services(c.site);
    director_->ports().drop_other_services(c.site);
    EXPECT_EQ(to_socket(v4), c.v4) << c.description;
    EXPECT_EQ(to_socket(v6), c.v6) << c.description;
  }
  director_.reset();
  EXPECT_TRUE(run("ip link delete families"));
}

// AF_XDP drops a frame that its buffer does not hold, without a word. An interface each, since the driver keeps its
// socket, and with it the queue, until the process ends.
TEST_F(KernelPorts, AnAfXdpPortTakesFramesUpToItsMtu) {
  for (const std::uint16_t mtu : std::to_array<std::uint16_t>({1500, 1770, 1771, 1899, xdp_mtu_max})) {
    SCOPED_TRACE(mtu);
    const auto outside = fmt::format("wan{}", mtu);
    const auto inside_mtu = static_cast<std::uint16_t>(mtu + 36);
    ASSERT_TRUE(make_veth(outside, mtu) && run(fmt::format("ip link set lan-far mtu {}", inside_mtu)));
    config_.ports[0].device = "af_xdp:" + outside;
    config_.ports[0].mtu = mtu;
    config_.ports[1].mtu = inside_mtu;
    ASSERT_NO_FATAL_FAILURE(open());
    director_->ports().add_services(site_of({203, 0, 113, 10}));
    const FarEnd client(outside + "-far"), backends("lan-far");
    ASSERT_TRUE(client.send(syn(director_->mac(), 40000, mtu - syn_headers)));
    const auto out = backends.receive(is_gue, 5s);
    ASSERT_TRUE(out) << "nothing arrived";
    EXPECT_EQ(out->size(), 14U + 36 + mtu);
    director_.reset();
    EXPECT_TRUE(run("ip link delete " + outside));
  }
  EXPECT_TRUE(run("ip link set lan-far mtu 1600"));
}

// ARP for the twin's address: in by the port, over the twin to the kernel, and its answer back out of the port.
TEST_F(KernelPorts, TheKernelAnswersThroughTheTwin) {
  // The kernel has the packet on wan as well here, where a NIC of its own would be DPDK's alone: it is to be silent.
  ASSERT_TRUE(run("sysctl -w net.ipv4.conf.wan.arp_ignore=8"));
  config_.ports[0].twin = true;
  config_.ports[0].kernel_interface = "gw-wan";
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_TRUE(run("ip address add 10.9.9.1/24 dev gw-wan && ip link set gw-wan up"));
  const auto mac = director_->mac();
  const FarEnd client("wan-far");
  Frame request(60);
  std::fill_n(request.begin(), 6, std::uint8_t{0xff});
  const std::uint8_t arp[] = {2, 0, 0, 0, 9,  2, 8, 6, 0, 1, 8, 0, 6, 4, 0,  1, 2, 0,
                              0, 0, 9, 2, 10, 9, 9, 2, 0, 0, 0, 0, 0, 0, 10, 9, 9, 1};
  std::copy(std::begin(arp), std::end(arp), request.begin() + 6);
  const auto is_answer = [&](const Frame& frame) {
    return frame.size() >= 42 && frame[12] == 8 && frame[13] == 6 && frame[21] == 2 &&
           std::equal(mac.begin(), mac.end(), frame.begin() + 22);
  };
  ASSERT_TRUE(client.send(request));
  EXPECT_TRUE(client.receive(is_answer, 5s)) << "no answer came out of the port";
  EXPECT_FALSE(client.receive(is_answer, 100ms)) << "answered twice";
  const auto crossed = static_cast<std::size_t>(Verdict::kernel);
  EXPECT_GE(director_->workers().counters(0).verdicts.packets[crossed].get(), 1U);
  director_.reset();
  EXPECT_FALSE(run("ip link show gw-wan")) << "the twin stayed behind";
  EXPECT_TRUE(run("sysctl -w net.ipv4.conf.wan.arp_ignore=0"));
}

// A port that nobody empties takes as many frames as its ring holds.
TEST_F(KernelPorts, FramesOfTheHostThatAFullPortDoesNotTakeAreCounted) {
  constexpr std::uint64_t sent = 6000, port_holds = 1023;
  const auto all_workers = eal_workers();
  for (std::size_t workers = 1; workers <= all_workers.size(); ++workers) {
    SCOPED_TRACE(workers);
    config_.workers.assign(all_workers.begin(), all_workers.begin() + static_cast<std::ptrdiff_t>(workers));
    config_.ports[0].device = fmt::format("ring:few{}", workers);
    config_.ports[1].device = fmt::format("ring:quiet{}", workers);
    config_.ports[0].queues = 1;
    config_.ports[0].twin = true;
    config_.ports[0].kernel_interface = "gw-few";
    ASSERT_NO_FATAL_FAILURE(open());
    const auto left = [&] { return director_->sum(&VerdictCounters::host_frames); };
    const auto lost = [&] { return director_->sum(&VerdictCounters::host_frames_lost); };
    const FarEnd host("gw-few");
    for (std::uint64_t i = 0; i < sent; ++i) {
      ASSERT_TRUE(host.send(syn({2, 0, 0, 0, 0, 1}, static_cast<std::uint16_t>(1024 + i))));
      // The TAP device's own queue is not to be what overflows.
      for (int wait = 0; i % 100 == 99 && left() + lost() <= i && wait < 5000; ++wait)
        std::this_thread::sleep_for(1ms);
    }
    director_->workers().stop();
    EXPECT_GE(left() + lost(), sent);
    EXPECT_LE(left() + lost(), sent + 20) << "and the kernel's own";
    EXPECT_GT(lost(), sent / 4);
    const auto left_behind = director_->sum(&VerdictCounters::left_behind);
    EXPECT_EQ(left() - left_behind, port_holds);
    EXPECT_EQ(left_behind > 0, workers > 1) << left_behind;
    EXPECT_EQ(director_->packets_in(), 0U) << "they are no packets in";
    EXPECT_EQ(director_->all_verdicts(), 0U);
    director_.reset();
  }
}

TEST_F(KernelPorts, RefusalsNameThePortAndLeaveNothing) {
  struct Case {
    const char* description;
    const char* device;
    std::uint16_t queues, mtu;
    const char* part;
  };
  const Case cases[] = {
      {"an interface that is not there", "af_packet:nosuch", 1, 1500, "nosuch"},
      {"a second queue of a capture", "pcap:/dev/null,/tmp/out.pcap", 2, 1500,
       "2 queues are asked for, the device has 1"},
      {"more queues than af_packet does", "af_packet:lan", 17, 1500, "17"},
      {"an MTU that no buffer holds", "af_packet:lan", 1, 65000, "mtu 65000"},
      {"a PCI device that is not there", "0000:77:00.0", 1, 1500, "no such device"},
      {"more queues than af_xdp binds to", "af_xdp:lan", 2, 1500,
       "2 queues are asked for, DPDK binds to 1 here"},
      {"an MTU beyond a page", "af_xdp:lan", 1, 3435, "mtu 3435"},
  };
  for (const auto& one : cases) {
    auto config = config_;
    config.ports[1].device = one.device;
    config.ports[1].queues = one.queues;
    config.ports[1].mtu = one.mtu;
    const auto opened = Ports::open(config);
    ASSERT_FALSE(opened) << one.description;
    EXPECT_NE(opened.error().text().find(one.part), std::string::npos) << opened.error().text();
    EXPECT_NE(opened.error().text().find("port lan"), std::string::npos) << opened.error().text();
  }
  ASSERT_NO_FATAL_FAILURE(open());  // the first port of each refused attempt was given back
}

}  // namespace
}  // namespace guideway
