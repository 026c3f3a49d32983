// The director's steering program by table: which frames go to the AF_XDP socket, which to the kernel.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "addresses.h"
#include "kernel.h"

namespace guideway::agent::test {
namespace {

const std::string other = "10.0.0.2", other6 = "fd00::2";

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

// An AF_XDP socket as far as a map takes it: with its memory and rings, bound to nothing.
class XskSocket {
 public:
  XskSocket() : fd_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uintptr_t>(memory_.get());
    memory.len = size;
    memory.chunk_size = 4096;
    const int entries = 64;
    EXPECT_EQ(::setsockopt(fd_.get(), SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)), 0)
        << std::strerror(errno);
    for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
      EXPECT_EQ(::setsockopt(fd_.get(), SOL_XDP, ring, &entries, sizeof(entries)), 0) << std::strerror(errno);
  }
  [[nodiscard]] int get() const { return fd_.get(); }

 private:
  static constexpr std::size_t size = 16 * 4096;
  std::unique_ptr<void, void (*)(void*)> memory_{std::aligned_alloc(4096, size), std::free};
  Fd fd_;
};

class SteerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string refusal = kernel_refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
    object_.reset(bpf_object__open_file(GW_STEER_OBJECT, nullptr));
    ASSERT_TRUE(object_) << GW_STEER_OBJECT;
    ASSERT_EQ(bpf_object__load(object_.get()), 0);
    serve("203.0.113.0", 28);
    serve("2001:db8:100::10", 128);
  }

  void serve(const char* text, std::uint8_t length) {
    const IpAddress address = IpAddress::parse(text).value();
    const gw_prefix key = map_key(address, length);
    const std::uint32_t family = address.family == Family::ipv4 ? GW_IPV4 : GW_IPV6;
    ASSERT_EQ(bpf_map_update_elem(map("gw_services"), &key, &family, BPF_ANY), 0);
  }

  [[nodiscard]] int map(const char* name) const {
    return bpf_object__find_map_fd_by_name(object_.get(), name);
  }
  [[nodiscard]] int program() const {
    return bpf_program__fd(bpf_object__find_program_by_name(object_.get(), "steer"));
  }
  void bind_socket() {
    const std::uint32_t queue = 0;
    const int fd = socket_.emplace().get();
    ASSERT_EQ(bpf_map_update_elem(map("xsks_map"), &queue, &fd, BPF_ANY), 0) << std::strerror(errno);
  }
  void take_neighbours() {
    const std::uint32_t zero = 0;
    const gw_steering steering{1};
    ASSERT_EQ(bpf_map_update_elem(map("gw_steering"), &zero, &steering, BPF_ANY), 0);
  }

  std::unique_ptr<bpf_object, CloseObject> object_;
  std::optional<XskSocket> socket_;
};

Bytes arp_message(const std::string& target, std::uint8_t operation = 1) {
  return hex("ffffffffffff 020000000002 0806 0001 0800 06 04 00") + Bytes{operation} + hex("020000000002") +
         address("10.0.0.1") + Bytes(6) + address(target) + Bytes(18);
}
Bytes icmp6_message(std::uint8_t type, const std::string& target, const std::string& to) {
  return ethernet(ip({client6, to, 58, 0, 0, {}, 255}, Bytes{type, 0, 0, 0, 0, 0, 0, 0} + address(target)));
}
Bytes with_tags(Bytes frame, const Bytes& tags) {
  frame.insert(frame.begin() + 12, tags.begin(), tags.end());
  return frame;
}

struct SteerCase {
  std::string description;
  Bytes frame;
  std::uint32_t action;
};

std::vector<SteerCase> steer_cases(bool neighbours) {
  const std::uint32_t to_socket = XDP_REDIRECT, to_kernel = XDP_PASS,
                      asked = neighbours ? XDP_REDIRECT : XDP_PASS;
  const Bytes segment = tcp(40000, 80, syn), datagram = udp(40000, 53, hex("00"));
  const Bytes v4 = ethernet(ip({client, service, 6}, segment)),
              v6 = ethernet(ip({client6, service6, 6}, segment));
  const Bytes quote = hex("0304 0000 0000 0514") + ip({service, client, 6}, segment);
  return {
      {"TCP to a service address", v4, to_socket},
      {"TCP over IPv6", v6, to_socket},
      {"UDP", ethernet(ip({client, service, 17}, datagram)), to_socket},
      {"another address of the prefix", ethernet(ip({client, "203.0.113.15", 17}, datagram)), to_socket},
      {"ESP", ethernet(ip({client, service, 50}, segment)), to_socket},
      {"a first fragment", ethernet(ip({client, service, 17, 0, 0x2000}, datagram)), to_socket},
      {"a later fragment", ethernet(ip({client, service, 17, 0, 0x0010}, datagram)), to_socket},
      {"IPv4 options", ethernet(ip({client, service, 6, 0, 0, hex("94040000")}, segment)), to_socket},
      {"echo request", ethernet(ip({client, service, 1}, hex("0800 f7ff 0000 0000"))), to_socket},
      {"ICMP error", ethernet(ip({client, service, 1}, quote)), to_socket},
      {"echo request over IPv6", icmp6_message(128, service6, service6), to_socket},
      {"packet too big", icmp6_message(2, service6, service6), to_socket},
      {"IPv6 fragment", ethernet(ip({client6, service6, 44}, hex("0600 0009 00000001") + segment)),
       to_socket},
      {"IPv6 hop-by-hop options", ethernet(ip({client6, service6, 0}, hex("0600 000000000000") + segment)),
       to_socket},
      {"a VLAN tag", with_tags(v4, hex("8100 0064")), to_socket},
      {"two VLAN tags", with_tags(v6, hex("88a8 0064 8100 0065")), to_socket},
      {"the host's own address", ethernet(ip({client, other, 6}, segment)), to_kernel},
      {"the host's own IPv6 address", ethernet(ip({client6, other6, 6}, segment)), to_kernel},
      {"just outside the prefix", ethernet(ip({client, "203.0.113.16", 6}, segment)), to_kernel},
      {"a service address in mapped form", ethernet(ip({client6, "::ffff:" + service, 6}, segment)),
       to_kernel},
      {"solicitation of a service address in mapped form", icmp6_message(135, "::ffff:" + service, other6),
       to_kernel},
      {"from a service address", ethernet(ip({service, client, 6}, segment)), to_kernel},
      {"a bridge's frame", hex("0180c2000000 020000000002 0026 424203") + Bytes(40), to_kernel},
      {"ARP request for the host", arp_message(other), to_kernel},
      {"ARP request for a service address", arp_message(service), asked},
      {"ARP answer about a service address", arp_message(service, 2), to_kernel},
      {"solicitation of a service address", icmp6_message(135, service6, "ff02::1:ff00:10"), asked},
      {"solicitation of a service address, unicast", icmp6_message(135, service6, service6), asked},
      {"solicitation of the host", icmp6_message(135, other6, "ff02::1:ff00:2"), to_kernel},
      {"advertisement", icmp6_message(136, service6, other6), to_kernel},
      {"router advertisement", icmp6_message(134, service6, "ff02::1"), to_kernel},
      {"cut within Ethernet's tags", with_tags(Bytes(v4.begin(), v4.begin() + 14), hex("8100")), to_kernel},
      {"cut within IPv4", Bytes(v4.begin(), v4.begin() + 33), to_kernel},
      {"cut within IPv6", Bytes(v6.begin(), v6.begin() + 53), to_kernel},
  };
}

TEST_F(SteerTest, TheDestinationDecides) {
  bind_socket();
  for (const bool neighbours : {false, true}) {
    if (neighbours) take_neighbours();
    for (const SteerCase& c : steer_cases(neighbours)) {
      const Outcome outcome = run_xdp(program(), c.frame);
      EXPECT_EQ(outcome.action, c.action) << c.description << (neighbours ? ", neighbours too" : "");
      EXPECT_EQ(outcome.frame, c.frame) << c.description;
    }
  }
}

// A service's prefix, however short, is of its own family.
TEST_F(SteerTest, AShortPrefixTakesNoPacketOfTheOtherFamily) {
  bind_socket();
  take_neighbours();
  const std::uint32_t to_socket = XDP_REDIRECT, to_kernel = XDP_PASS;
  const Bytes segment = tcp(40000, 80, syn);
  const Bytes v4 = ethernet(ip({client, other, 6}, segment)),
              v6 = ethernet(ip({client6, other6, 6}, segment)),
              mapped = ethernet(ip({client6, "::ffff:10.0.0.2", 6}, segment)), asks4 = arp_message(other),
              asks6 = icmp6_message(135, other6, "ff02::1:ff00:2");
  const struct {
    const char* prefix;
    std::uint8_t length;
  } cases[] = {{"::", 0}, {"::", 1}, {"::8000:0:0", 81}, {"::fffe:0:0", 95}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.prefix << "/" << int{c.length});
    serve(c.prefix, c.length);
    EXPECT_EQ(run_xdp(program(), v4).action, to_kernel);
    EXPECT_EQ(run_xdp(program(), asks4).action, to_kernel);
    EXPECT_EQ(run_xdp(program(), mapped).action, to_kernel);
    EXPECT_EQ(run_xdp(program(), ethernet(ip({client, service, 6}, segment))).action, to_socket)
        << "a service of its own";
  }
  EXPECT_EQ(run_xdp(program(), v6).action, to_socket);
  EXPECT_EQ(run_xdp(program(), asks6).action, to_socket);
}

TEST_F(SteerTest, AllOfIpv4TakesNoIpv6) {
  bind_socket();
  take_neighbours();
  serve("0.0.0.0", 0);
  const std::uint32_t to_socket = XDP_REDIRECT, to_kernel = XDP_PASS;
  const Bytes segment = tcp(40000, 80, syn);
  EXPECT_EQ(run_xdp(program(), ethernet(ip({client, other, 6}, segment))).action, to_socket);
  EXPECT_EQ(run_xdp(program(), arp_message(other)).action, to_socket);
  EXPECT_EQ(run_xdp(program(), ethernet(ip({client6, other6, 6}, segment))).action, to_kernel);
  EXPECT_EQ(run_xdp(program(), ethernet(ip({client6, "::ffff:10.0.0.2", 6}, segment))).action, to_kernel);
  EXPECT_EQ(run_xdp(program(), icmp6_message(135, other6, "ff02::1:ff00:2")).action, to_kernel);
}

TEST_F(SteerTest, WithoutASocketServicePacketsAreDroppedAndCounted) {
  for (const SteerCase& c : steer_cases(false)) {
    const std::uint32_t drop = XDP_DROP;
    const std::uint32_t action = c.action == XDP_REDIRECT ? drop : c.action;
    EXPECT_EQ(run_xdp(program(), c.frame).action, action) << c.description;
  }
  const std::uint32_t zero = 0;
  std::vector<gw_steered> each(static_cast<std::size_t>(libbpf_num_possible_cpus()));
  ASSERT_EQ(bpf_map_lookup_elem(map("gw_steered"), &zero, each.data()), 0);
  std::uint64_t dropped = 0, kernel = 0, sockets = 0;
  for (const gw_steered& one : each) {
    dropped += one.drop_no_socket;
    kernel += one.to_kernel;
    sockets += one.to_socket;
  }
  EXPECT_EQ(dropped, 16u);
  EXPECT_EQ(dropped + kernel, steer_cases(false).size());
  EXPECT_EQ(sockets, 0u);
}

}  // namespace
}  // namespace guideway::agent::test
