// Service cover: who wins what two services ask for, and who gets nothing.
#include "state/service_cover.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "state/prefix.h"
#include "state/site_check.h"
#include "state/site_file.h"
#include "state/words.h"

namespace guideway {
namespace {

Service claim(const std::string& name, const std::string& address, std::uint8_t length,
              std::vector<PortRange> ports, std::uint8_t protocol = protocol_tcp) {
  Service out;
  out.name = name;
  out.address = *IpAddress::parse(address);
  out.prefix_length = length;
  out.ports = std::move(ports);
  out.protocol = protocol;
  out.pool = "web";
  return out;
}

Site site_of(std::vector<Service> services) {
  return {.pools = {{.name = "web"}}, .services = std::move(services)};
}

// "b over a: tcp 203.0.113.10 443"
std::vector<std::string> told(const Site& site) {
  std::vector<std::string> out;
  for (const ServiceOverlap& overlap : service_overlaps(site))
    out.push_back(overlap.winner + " over " + overlap.loser + ": " +
                  std::string(protocol_word(overlap.protocol)) + " " +
                  prefix_text(overlap.address, overlap.prefix_length) + " " + ports_text(overlap.ports));
  return out;
}

TEST(ServiceOverlap, WhoWins) {
  const struct {
    const char* description;
    std::vector<Service> services;
    std::vector<std::string> overlaps, hidden;
  } cases[] = {
      {"apart",
       {claim("a", "203.0.113.10", 32, {{80, 80}}), claim("b", "203.0.113.11", 32, {{80, 80}})},
       {},
       {}},
      {"other ports",
       {claim("a", "203.0.113.10", 32, {{80, 80}}), claim("b", "203.0.113.10", 32, {{81, 81}})},
       {},
       {}},
      {"other protocols",
       {claim("a", "203.0.113.10", 32, {}), claim("b", "203.0.113.10", 32, {}, protocol_udp)},
       {},
       {}},
      {"a longer prefix",
       {claim("a", "203.0.113.0", 24, {}), claim("b", "203.0.113.10", 32, {{443, 443}})},
       {"b over a: tcp 203.0.113.10 443"},
       {}},
      {"a longer prefix, whatever the order",
       {claim("b", "203.0.113.10", 32, {}), claim("a", "203.0.113.0", 24, {{443, 443}})},
       {"b over a: tcp 203.0.113.10 443"},
       {}},
      {"both any port",
       {claim("a", "203.0.113.0", 24, {}), claim("b", "203.0.113.16", 28, {})},
       {"b over a: tcp 203.0.113.16/28 any"},
       {}},
      {"a port over a range, and over any",
       {claim("a", "203.0.113.10", 32, {}), claim("b", "203.0.113.10", 32, {{8000, 8099}}),
        claim("c", "203.0.113.10", 32, {{8080, 8080}})},
       {"b over a: tcp 203.0.113.10 8000-8099", "c over a: tcp 203.0.113.10 8080",
        "c over b: tcp 203.0.113.10 8080"},
       {}},
      {"each wins something",
       {claim("a", "203.0.113.10", 32, {{80, 80}, {8000, 8099}}),
        claim("b", "203.0.113.10", 32, {{70, 90}, {8050, 8050}})},
       {"b over a: tcp 203.0.113.10 8050", "a over b: tcp 203.0.113.10 80"},
       {}},
      {"hidden by two halves",
       {claim("a", "203.0.113.0", 24, {{80, 80}}), claim("b", "203.0.113.0", 25, {}),
        claim("c", "203.0.113.128", 25, {{80, 80}})},
       {"b over a: tcp 203.0.113.0/25 80", "c over a: tcp 203.0.113.128/25 80"},
       {"a"}},
      {"hidden port by port",
       {claim("a", "2001:db8::10", 128, {{80, 81}}), claim("b", "2001:db8::10", 128, {{80, 80}, {81, 81}})},
       {"b over a: tcp 2001:db8::10 80,81"},
       {"a"}},
      {"the last address is its own",
       {claim("a", "203.0.113.0", 30, {{80, 80}}), claim("b", "203.0.113.0", 31, {}),
        claim("c", "203.0.113.2", 32, {{80, 80}})},
       {"b over a: tcp 203.0.113.0/31 80", "c over a: tcp 203.0.113.2 80"},
       {}},
  };
  for (const auto& one : cases) {
    const Site site = site_of(one.services);
    EXPECT_TRUE(check_site(site)) << one.description;
    EXPECT_EQ(told(site), one.overlaps) << one.description;
    EXPECT_EQ(hidden_services(site), one.hidden) << one.description;
  }
}

TEST(ServiceOverlap, TheSameClaimTwiceIsRefused) {
  const struct {
    const char* description;
    Service a, b;
  } cases[] = {
      {"any", claim("a", "203.0.113.10", 32, {}), claim("b", "203.0.113.10", 32, {})},
      {"a port", claim("a", "203.0.113.10", 32, {{80, 80}}),
       claim("b", "203.0.113.10", 32, {{80, 80}, {90, 90}})},
      {"a range", claim("a", "203.0.113.10", 32, {{80, 90}}), claim("b", "203.0.113.10", 32, {{80, 90}})},
      {"a part of a range", claim("a", "203.0.113.0", 28, {{80, 90}}),
       claim("b", "203.0.113.0", 28, {{85, 99}})},
  };
  for (const auto& one : cases) {
    const auto refused = check_site(site_of({one.a, one.b}));
    ASSERT_FALSE(refused) << one.description;
    EXPECT_NE(refused.error().what.find("belongs to service \"a\" already"), std::string::npos)
        << refused.error().what;
  }
}

TEST(ServiceOverlap, AHiddenServiceIsAWarning) {
  const Site site = site_of({claim("a", "203.0.113.0", 28, {{80, 80}}),
                             claim("b", "203.0.113.0", 29, {{80, 80}}), claim("c", "203.0.113.8", 29, {})});
  const auto warnings = warnings_of(site);
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
    return warning.starts_with("service \"a\" gets no packet");
  }));
}

// On random sites: at every address and port that several services ask for, the one that the data plane's table picks is
// told to win over each of the others.
TEST(ServiceOverlap, AgreesWithTheTable) {
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random()) % bound; };
  std::size_t contested = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Service> services;
    for (std::uint32_t i = 0, count = 2 + below(5); i < count; ++i) {
      const auto length = static_cast<std::uint8_t>(28 + below(5));
      const std::string host = "203.0.113." + std::to_string(16 + below(16));
      std::vector<PortRange> ports;
      for (std::uint16_t port = 1; port < 12 && below(4) != 0;) {
        const auto first = static_cast<std::uint16_t>(port + below(3)),
                   last = static_cast<std::uint16_t>(first + below(3));
        ports.push_back({first, last});
        port = static_cast<std::uint16_t>(last + 1);
      }
      services.push_back(
          claim("s" + std::to_string(i), network_of(*IpAddress::parse(host), length).text(), length, ports));
    }
    const Site site = site_of(services);
    if (!check_site(site)) continue;
    const ServiceTable table = service_table(site);
    const auto overlaps = service_overlaps(site);
    std::set<std::string> served;
    for (std::uint8_t host = 16; host < 32; ++host) {
      for (std::uint16_t port = 0; port < 20; ++port) {
        const IpAddress address = *IpAddress::parse("203.0.113." + std::to_string(host));
        const ServiceMatch match = table.find(Family::ipv4, address.bytes.data(), protocol_tcp, port);
        if (match.kind != ServiceMatch::Kind::service) continue;
        const std::string& winner = site.services[match.service].name;
        served.insert(winner);
        for (const Service& other : site.services) {
          const bool asks =
              network_of(address, other.prefix_length) == other.address &&
              (other.ports.empty() || std::any_of(other.ports.begin(), other.ports.end(), [&](auto range) {
                 return range.first <= port && port <= range.last;
               }));
          if (!asks || other.name == winner) continue;
          ++contested;
          EXPECT_TRUE(std::any_of(
              overlaps.begin(), overlaps.end(),
              [&](const ServiceOverlap& overlap) {
                return overlap.winner == winner && overlap.loser == other.name &&
                       network_of(address, overlap.prefix_length) == overlap.address &&
                       (overlap.ports.empty() ||
                        std::any_of(overlap.ports.begin(), overlap.ports.end(),
                                    [&](auto range) { return range.first <= port && port <= range.last; }));
              }))
              << winner << " over " << other.name << " at " << address.text() << " " << port;
        }
      }
    }
    for (const std::string& name : hidden_services(site)) EXPECT_FALSE(served.contains(name)) << name;
    EXPECT_EQ(served.size() + hidden_services(site).size(), site.services.size());
  }
  EXPECT_GT(contested, 1000U);
}

}  // namespace
}  // namespace guideway
