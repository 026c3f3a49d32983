#include <gtest/gtest.h>

#include <random>

#include "snapshot/service_table.h"

namespace guideway {
namespace {

using Kind = ServiceMatch::Kind;

IpAddress address(const std::string& text) { return IpAddress::parse(text).value(); }

ServiceMatch find(const ServiceTable& table, const std::string& text, std::uint8_t protocol,
                  std::uint16_t port) {
  const IpAddress a = address(text);
  return table.find(a.family, a.bytes.data(), protocol, port);
}

struct Case {
  const char* description;
  std::vector<ServiceRule> rules;
  const char* address;
  std::uint8_t protocol;
  std::uint16_t port;
  Kind kind;
  std::uint32_t service = 0;
};

ServiceRule rule(std::uint32_t service, const char* text, std::uint8_t length, std::vector<PortRange> ports,
                 std::uint8_t protocol = 6) {
  return {address(text), length, protocol, std::move(ports), static_cast<std::uint16_t>(service), 0,
          false,         0};
}

TEST(ServiceTable, WhoWins) {
  const std::vector<Case> cases = {
      {"no rules", {}, "192.0.2.1", 6, 80, Kind::not_ours},
      {"an exact port", {rule(7, "192.0.2.1", 32, {{80, 80}})}, "192.0.2.1", 6, 80, Kind::service, 7},
      {"another port", {rule(7, "192.0.2.1", 32, {{80, 80}})}, "192.0.2.1", 6, 81, Kind::no_such_port, 7},
      {"another protocol",
       {rule(7, "192.0.2.1", 32, {{80, 80}})},
       "192.0.2.1",
       17,
       80,
       Kind::no_such_port,
       7},
      {"another address", {rule(7, "192.0.2.1", 32, {{80, 80}})}, "192.0.2.2", 6, 80, Kind::not_ours},
      {"port 0 of any", {rule(7, "192.0.2.1", 32, {})}, "192.0.2.1", 6, 0, Kind::service, 7},
      {"port 65535 of any", {rule(7, "192.0.2.1", 32, {})}, "192.0.2.1", 6, 65535, Kind::service, 7},
      {"a range's first port",
       {rule(7, "192.0.2.1", 32, {{8000, 8999}})},
       "192.0.2.1",
       6,
       8000,
       Kind::service,
       7},
      {"a range's last port",
       {rule(7, "192.0.2.1", 32, {{8000, 8999}})},
       "192.0.2.1",
       6,
       8999,
       Kind::service,
       7},
      {"behind a range",
       {rule(7, "192.0.2.1", 32, {{8000, 8999}})},
       "192.0.2.1",
       6,
       9000,
       Kind::no_such_port,
       7},
      {"a port wins over an earlier range",
       {rule(1, "192.0.2.1", 32, {{80, 90}}), rule(2, "192.0.2.1", 32, {{85, 85}})},
       "192.0.2.1",
       6,
       85,
       Kind::service,
       2},
      {"the range goes on behind the port",
       {rule(1, "192.0.2.1", 32, {{80, 90}}), rule(2, "192.0.2.1", 32, {{85, 85}})},
       "192.0.2.1",
       6,
       86,
       Kind::service,
       1},
      {"a range wins over an earlier any",
       {rule(1, "192.0.2.1", 32, {}), rule(2, "192.0.2.1", 32, {{80, 90}})},
       "192.0.2.1",
       6,
       85,
       Kind::service,
       2},
      {"of two ranges the earlier rule",
       {rule(1, "192.0.2.1", 32, {{80, 90}}), rule(2, "192.0.2.1", 32, {{85, 86}})},
       "192.0.2.1",
       6,
       85,
       Kind::service,
       1},
      {"of two equal ports the earlier rule",
       {rule(1, "192.0.2.1", 32, {{80, 80}}), rule(2, "192.0.2.1", 32, {{80, 80}})},
       "192.0.2.1",
       6,
       80,
       Kind::service,
       1},
      {"the longest prefix",
       {rule(1, "192.0.0.0", 16, {}), rule(2, "192.0.2.0", 24, {}), rule(3, "192.0.2.0", 25, {})},
       "192.0.2.130",
       6,
       80,
       Kind::service,
       2},
      {"a longer prefix without the port leaves it to a shorter one",
       {rule(1, "192.0.2.0", 24, {}), rule(2, "192.0.2.1", 32, {{80, 80}})},
       "192.0.2.1",
       6,
       81,
       Kind::service,
       1},
      {"any of an address wins over a prefix's exact port",
       {rule(1, "192.0.2.0", 24, {{80, 80}}), rule(2, "192.0.2.1", 32, {})},
       "192.0.2.1",
       6,
       80,
       Kind::service,
       2},
      {"host bits of a prefix do not count",
       {rule(1, "192.0.2.77", 24, {})},
       "192.0.2.1",
       6,
       80,
       Kind::service,
       1},
      {"everything", {rule(1, "0.0.0.0", 0, {})}, "255.255.255.255", 6, 80, Kind::service, 1},
      {"IPv6", {rule(1, "2001:db8::1", 128, {{80, 80}})}, "2001:db8::1", 6, 80, Kind::service, 1},
      {"IPv6, another address",
       {rule(1, "2001:db8::1", 128, {{80, 80}})},
       "2001:db8::2",
       6,
       80,
       Kind::not_ours},
      {"IPv6 prefix across the half",
       {rule(1, "2001:db8::8000:0:0:0", 65, {})},
       "2001:db8::8000:0:0:9",
       6,
       80,
       Kind::service,
       1},
      {"outside an IPv6 prefix",
       {rule(1, "2001:db8::8000:0:0:0", 65, {})},
       "2001:db8::9",
       6,
       80,
       Kind::not_ours},
      {"IPv4 is not the low half of IPv6",
       {rule(1, "::c000:201", 128, {{80, 80}})},
       "192.0.2.1",
       6,
       80,
       Kind::not_ours},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    const ServiceTable table = ServiceTable::build(c.rules);
    const ServiceMatch match = find(table, c.address, c.protocol, c.port);
    EXPECT_EQ(match.kind, c.kind);
    EXPECT_EQ(match.service, c.service);
  }
}

TEST(ServiceTable, AddressKnowsItsPolicies) {
  std::vector<ServiceRule> rules = {rule(0, "192.0.2.0", 24, {{80, 80}}),
                                    rule(1, "192.0.2.1", 32, {{443, 443}}),
                                    rule(2, "192.0.2.1", 32, {{444, 444}})};
  rules[1].unmatched_drop = true;
  rules[1].ping = 2;
  const ServiceTable table = ServiceTable::build(rules);
  const IpAddress one = address("192.0.2.1"), two = address("192.0.2.2"), far = address("198.51.100.1");
  const ServiceMatch first = table.find_address(one.family, one.bytes.data());
  EXPECT_EQ(first.kind, Kind::no_such_port);
  EXPECT_EQ(first.service, 1U);
  EXPECT_TRUE(first.unmatched_drop);
  EXPECT_EQ(first.ping, 2);
  EXPECT_FALSE(table.find_address(two.family, two.bytes.data()).unmatched_drop);
  EXPECT_EQ(table.find_address(far.family, far.bytes.data()).kind, Kind::not_ours);
  EXPECT_TRUE(find(table, "192.0.2.1", 6, 444).unmatched_drop);
}

// Against a reading of the rules one by one.
ServiceMatch slow_find(const std::vector<ServiceRule>& rules, const IpAddress& a, std::uint8_t protocol,
                       std::uint16_t port) {
  const auto covers = [&](const ServiceRule& r) {
    if (r.address.family != a.family) return false;
    for (unsigned bit = 0; bit < r.prefix_length; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if (((r.address.bytes[bit / 8] ^ a.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
  };
  ServiceMatch match;
  std::tuple<int, int> best{-1, -1};
  int longest = -1;
  for (const ServiceRule& r : rules) {
    if (!covers(r)) continue;
    if (r.prefix_length > longest) {
      longest = r.prefix_length;
      if (match.kind != Kind::service)
        match = {Kind::no_such_port, r.unmatched_drop, r.ping, r.service, r.pool};
    }
    if (r.protocol != protocol) continue;
    int narrowness = r.ports.empty() ? 0 : -1;
    for (const PortRange& range : r.ports)
      if (range.first <= port && port <= range.last)
        narrowness = std::max(narrowness, range.first == range.last ? 2 : 1);
    const std::tuple<int, int> rank{r.prefix_length, narrowness};
    if (narrowness < 0 || rank <= best) continue;
    best = rank;
    match.kind = Kind::service;
    match.service = r.service;
  }
  return match;
}

TEST(ServiceTable, AgreesWithReadingTheRules) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<ServiceRule> rules;
    for (std::uint32_t i = 0; i < 1 + below(12); ++i) {
      const bool ipv4 = below(2) == 0;
      ServiceRule r = rule(i, ipv4 ? "10.0.0.0" : "2001:db8::", 0, {}, below(2) != 0 ? 6 : 17);
      r.address.bytes[ipv4 ? 3U : 15U] = static_cast<std::uint8_t>(below(4));
      r.prefix_length = static_cast<std::uint8_t>((ipv4 ? 32U : 128U) - below(4));
      for (std::uint32_t n = below(3); n > 0; --n) {
        const auto first = static_cast<std::uint16_t>(below(12));
        r.ports.push_back({first, static_cast<std::uint16_t>(first + (below(2) != 0 ? 0 : below(200)))});
      }
      rules.push_back(r);
    }
    const ServiceTable table = ServiceTable::build(rules);
    for (std::uint32_t probe = 0; probe < 64; ++probe) {
      IpAddress a = address(probe % 2 == 0 ? "10.0.0.0" : "2001:db8::");
      a.bytes[probe % 2 == 0 ? 3 : 15] = static_cast<std::uint8_t>(below(6));
      const std::uint8_t protocol = below(2) != 0 ? 6 : 17;
      const auto port = static_cast<std::uint16_t>(below(230));
      const ServiceMatch expected = slow_find(rules, a, protocol, port);
      const ServiceMatch match = table.find(a.family, a.bytes.data(), protocol, port);
      ASSERT_EQ(match.kind, expected.kind);
      if (match.kind == Kind::not_ours) continue;
      ASSERT_EQ(match.service, expected.service);
      ASSERT_EQ(table.find_address(a.family, a.bytes.data()).kind, Kind::no_such_port);
    }
  }
}

}  // namespace
}  // namespace guideway
