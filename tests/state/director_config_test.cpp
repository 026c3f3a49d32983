// director.toml: what is read and what is refused, with its place.
#include "state/director_config.h"

#include <gtest/gtest.h>

#include "state/device_name.h"

namespace guideway {
namespace {

constexpr std::string_view director_sample = R"([director]
source_ipv4 = "10.0.0.2"
workers = [1, 2]
polling = "busy"
metrics = ""

[[port]]
name = "wan"
device = "0000:3B:00.0"
kernel_interface = "gw-wan"
queues = 2

[[port]]
name = "lan"
device = "af_packet:eth1"
next_hop_mac = "02:00:00:00:00:01"
)";

TEST(DirectorConfig, ReadsTheSample) {
  const auto config = parse_director(director_sample, "director.toml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->source_ipv4, IpAddress::parse("10.0.0.2"));
  EXPECT_EQ(config->source_ipv6, std::nullopt);
  EXPECT_EQ(config->workers, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(config->polling, Polling::busy);
  EXPECT_EQ(config->metrics, "");
  EXPECT_EQ(config->admin_socket, "/run/guideway/api.sock");
  ASSERT_EQ(config->ports.size(), 2U);
  EXPECT_EQ(config->ports[0].queues, 2);
  EXPECT_EQ(config->ports[1].queues, 0);
  EXPECT_EQ(config->ports[1].next_hop_mac, (MacAddress{2, 0, 0, 0, 0, 1}));
}

struct BadConfig {
  const char* description;
  const char* from;
  const char* to;
  const char* message;
};

const BadConfig bad_configs[] = {
    {"unknown key", "polling", "poling",
     "director.toml:4:1: [director] has no key \"poling\"; did you mean \"polling\"?"},
    {"family", "10.0.0.2", "fd00::2", "director.toml:2:15: source_ipv4 fd00::2 is of the other family"},
    {"multicast source", "10.0.0.2", "224.0.0.1",
     "director.toml:2:15: source_ipv4 224.0.0.1 is no host's address"},
    {"lcore twice", "[1, 2]", "[1, 1]", "director.toml:3:15: lcore 1 is named twice"},
    {"no workers", "[1, 2]", "[]", "director.toml:3:11: workers is empty"},
    {"lcore too large", "[1, 2]", "[1, 5000]", "director.toml:3:15: lcore 5000 is above 1023"},
    {"workers no list", "[1, 2]", "2", "director.toml:3:11: workers is an integer; write a list of lcores"},
    {"polling", "\"busy\"", "\"fast\"",
     "director.toml:4:11: polling \"fast\" is not known; use busy or adaptive"},
    {"metrics without port", "metrics = \"\"", "metrics = \"127.0.0.1\"",
     "director.toml:5:11: metrics is no address and port"},
    {"metrics for everybody", "metrics = \"\"", "metrics = \"0.0.0.0:9464\"",
     "director.toml:5:11: metrics 0.0.0.0:9464 is not on loopback"},
    {"relative socket", "metrics = \"\"", "admin_socket = \"api.sock\"",
     "director.toml:5:16: admin_socket is no absolute path"},
    {"no prefix", "metrics = \"\"", "outer_source_prefix = \"10.100.0.0\"",
     "director.toml:5:23: outer_source_prefix 10.100.0.0 is no IPv4 prefix"},
    {"host bits", "metrics = \"\"", "outer_source_prefix = \"10.100.0.1/20\"",
     "director.toml:5:23: outer_source_prefix 10.100.0.1/20 is no IPv4 prefix"},
    {"port twice", "\"lan\"", "\"wan\"", "director.toml:14:8: two ports are called \"wan\""},
    {"device twice", "af_packet:eth1", "0000:3b:00.0",
     "director.toml:15:10: device 0000:3b:00.0 belongs to another port already"},
    {"device", "af_packet:eth1", "eth1", "director.toml:15:10: the device is of no known form"},
    {"device without name", "af_packet:eth1",
     "af_packet:", "director.toml:15:10: the device's interface or name is missing"},
    {"device with arguments", "af_packet:eth1", "af_packet:eth1,blocksz=1",
     "director.toml:15:10: the device's interface or name is missing or wrong"},
    {"no device", "device = \"af_packet:eth1\"\n", "", "director.toml:13:1: port has no device"},
    {"queues", "queues = 2", "queues = 3",
     "director.toml:11:10: 3 queues do not fit 2 workers; write queues = 2 or leave it out"},
    {"mac of a group", "02:00:00:00:00:01", "01:00:5e:00:00:01",
     "director.toml:16:16: next_hop_mac is no unicast MAC"},
    {"mac form", "02:00:00:00:00:01", "02-00-00-00-00-01",
     "director.toml:16:16: next_hop_mac is no unicast MAC"},
    {"kernel interface too long", "gw-wan", "gw-wan-is-too-long",
     "director.toml:10:20: kernel_interface has 18 bytes; use at most 15"},
    {"mtu", "queues = 2", "mtu = 20", "director.toml:11:7: mtu 20 is below 576"},
    {"vlan", "queues = 2", "vlan = 4095", "director.toml:11:8: vlan 4095 is above 4094"},
};

class BadConfigs : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigs, AreRefusedWithTheirPlace) {
  std::string text(director_sample);
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const auto config = parse_director(text, "director.toml");
  ASSERT_FALSE(config) << GetParam().description;
  EXPECT_TRUE(config.error().text().starts_with(GetParam().message)) << config.error().text();
  EXPECT_FALSE(config.error().next.empty()) << config.error().text();
}

INSTANTIATE_TEST_SUITE_P(Director, BadConfigs, testing::ValuesIn(bad_configs));

TEST(DirectorConfig, WithoutAPortThereIsNothingToDo) {
  EXPECT_EQ(parse_director("", "d").error().what, "there is no port");
}

TEST(DirectorConfig, OneInterfaceIsOnePortWhateverTheDriver) {
  const auto config = parse_director(
      "[[port]]\nname = \"a\"\ndevice = \"af_xdp:eth1\"\n[[port]]\nname = \"b\"\ndevice = "
      "\"af_packet:eth1\"\n",
      "d");
  EXPECT_EQ(config.error().where, "d:6:10");
}

TEST(DirectorConfig, SeveralNullDevicesAreFine) {
  EXPECT_TRUE(parse_director(
      "[[port]]\nname = \"a\"\ndevice = \"null\"\n[[port]]\nname = \"b\"\ndevice = \"null\"\n", "d"));
}

TEST(DeviceName, IsTakenApart) {
  using Kind = Device::Kind;
  const std::pair<const char*, Device> cases[] = {{"0000:3B:00.0", {Kind::pci, "0000:3b:00.0", ""}},
                                                  {"af_packet:eth1", {Kind::af_packet, "eth1", ""}},
                                                  {"af_xdp:eth1", {Kind::af_xdp, "eth1", ""}},
                                                  {"tap:gw0", {Kind::tap, "gw0", ""}},
                                                  {"pcap:in.pcap", {Kind::pcap, "in.pcap", ""}},
                                                  {"pcap:a,b", {Kind::pcap, "a", "b"}},
                                                  {"pcap_loop:in.pcap", {Kind::pcap_loop, "in.pcap", ""}},
                                                  {"ring:left", {Kind::ring, "left", ""}},
                                                  {"null", {Kind::null_, "", ""}}};
  for (const auto& [text, device] : cases) {
    const auto parsed = parse_device(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, device) << text;
  }
  for (const char* text :
       {"", ":", "pci:1", "null:", "3b:00.0", "0000:3b:00.0,x", "pcap:", "pcap:a,", "pcap:a,a", "pcap:a,b,c",
        "pcap_loop:", "pcap_loop:a,b", "tap:a b", "tap:averyveryverylongname", "ring:a,b", "af_xdp:../x"})
    EXPECT_FALSE(parse_device(text)) << text;
}

}  // namespace
}  // namespace guideway
