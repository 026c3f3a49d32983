// Virtual devices: what the drivers get for a device string.
#include "io/virtual_device.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

struct Arguments {
  const char* description;
  const char* text;
  DeviceRequest request;
  std::vector<VirtualDevice> expected;
};

class DeviceArguments : public ::testing::TestWithParam<Arguments> {};

TEST_P(DeviceArguments, AreWhatTheDriversTake) {
  const auto device = parse_device(GetParam().text);
  ASSERT_TRUE(device);
  const auto made = virtual_devices(*device, GetParam().request);
  ASSERT_EQ(made.size(), GetParam().expected.size()) << GetParam().description;
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].name, GetParam().expected[i].name);
    EXPECT_EQ(made[i].arguments, GetParam().expected[i].arguments);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, DeviceArguments,
    ::testing::Values(
        Arguments{"one queue, ordinary MTU",
                  "af_packet:eth1",
                  {0, 1, 1500, ""},
                  {{"net_af_packet0", "iface=eth1,framecnt=4096,qdisc_bypass=1"}}},
        Arguments{"two queues share the interface by fanout",
                  "af_packet:eth1",
                  {3, 2, 1600, ""},
                  {{"net_af_packet3", "iface=eth1,framecnt=4096,qdisc_bypass=1,qpairs=2"}}},
        Arguments{
            "a large MTU needs larger slots",
            "af_packet:eth1",
            {0, 1, 9000, ""},
            {{"net_af_packet0", "iface=eth1,framecnt=4096,qdisc_bypass=1,blocksz=16384,framesz=16384"}}},
        Arguments{"the first MTU that needs larger slots",
                  "af_packet:eth1",
                  {0, 1, 1899, ""},
                  {{"net_af_packet0", "iface=eth1,framecnt=4096,qdisc_bypass=1,blocksz=4096,framesz=4096"}}},
        Arguments{"af_xdp without a program of ours",
                  "af_xdp:eth1",
                  {1, 2, 1500, ""},
                  {{"net_af_xdp1", "iface=eth1,start_queue=0,queue_count=2"}}},
        Arguments{"with its steering program",
                  "af_xdp:eth1",
                  {1, 1, 1500, "/steer.bpf.o"},
                  {{"net_af_xdp1", "iface=eth1,start_queue=0,queue_count=1,xdp_prog=/steer.bpf.o"}}},
        Arguments{"tap", "tap:gw0", {2, 2, 1500, ""}, {{"net_tap2", "iface=gw0"}}},
        Arguments{"pcap to read from", "pcap:a", {0, 1, 1500, ""}, {{"net_pcap0", "rx_pcap=a"}}},
        Arguments{
            "pcap without end", "pcap_loop:a", {0, 1, 1500, ""}, {{"net_pcap0", "rx_pcap=a,infinite_rx=1"}}},
        Arguments{"pcap", "pcap:a,b", {0, 1, 1500, ""}, {{"net_pcap0", "rx_pcap=a,tx_pcap=b"}}},
        Arguments{"null", "null", {1, 4, 1500, ""}, {{"net_null1", "size=64,copy=0"}}},
        Arguments{"PCI devices are the EAL's", "0000:3b:00.0", {0, 1, 1500, ""}, {}}),
    [](const auto& one) { return "case" + std::to_string(one.index); });

}  // namespace
}  // namespace guideway
