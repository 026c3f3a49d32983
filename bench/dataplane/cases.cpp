#include "bench/dataplane/cases.h"

#include "net/protocols.h"

namespace guideway::bench {
namespace {

constexpr std::uint32_t million = 1'000'000;

// Stateless GUE over IPv4, 64-byte TCP from a million flows to one service of 100 backends.
Settings usual() {
  Settings out;
  out.traffic.flows = million;
  return out;
}

Settings tracked(std::uint32_t flows) {
  Settings out = usual();
  out.flow_table = true;
  out.traffic.flows = flows;
  out.table_flows = flows;  // rounded up to a power of two
  return out;
}

template <class Change>
Settings with(Settings settings, Change change) {
  change(settings);
  return settings;
}

}  // namespace

std::vector<Case> pipeline_cases() {
  const std::string stateless = "stateless";
  const auto v6 = [](Settings& s) { s.traffic.family = s.outer = Family::ipv6; };
  const auto udp = [](Settings& s) { s.traffic.protocol = net::protocol_udp; };
  const auto imix = [](Settings& s) { s.traffic.sizes = Sizes::imix; };
  const auto zipf = [](Settings& s) { s.traffic.popularity = Popularity::zipf; };
  const auto services = [](std::uint32_t n) { return [n](Settings& s) { s.traffic.services = n; }; };
  const auto backends = [](std::uint32_t n) { return [n](Settings& s) { s.backends = n; }; };
  const auto wrapped = [](Encapsulation e) { return [e](Settings& s) { s.encapsulation = e; }; };
  return {
      {stateless, usual(), Arrivals::known, 45, {}, {}},
      {"stateless, one flow",
       with(usual(), [](Settings& s) { s.traffic.flows = 1; }),
       Arrivals::known,
       {},
       {},
       {}},
      {"stateless, UDP", with(usual(), udp), Arrivals::known, {}, {}, {}},
      {"stateless, IMIX", with(usual(), imix), Arrivals::known, {}, {}, {}},
      {"stateless, Zipf", with(usual(), zipf), Arrivals::known, {}, {}, {}},
      {"stateless, IPv6", with(usual(), v6), Arrivals::known, {}, stateless, 1.3},
      {"stateless, IPv6 in IPv4",
       with(usual(), [](Settings& s) { s.traffic.family = Family::ipv6; }),
       Arrivals::known,
       {},
       {},
       {}},
      {"stateless, IPIP", with(usual(), wrapped(Encapsulation::ipip)), Arrivals::known, {}, {}, {}},
      {"stateless, GRE", with(usual(), wrapped(Encapsulation::gre)), Arrivals::known, {}, {}, {}},
      {"stateless, L2", with(usual(), wrapped(Encapsulation::l2)), Arrivals::known, {}, {}, {}},
      {"stateless, 100 services", with(usual(), services(100)), Arrivals::known, {}, {}, {}},
      {"stateless, 10,000 services", with(usual(), services(10'000)), Arrivals::known, {}, stateless, 1.15},
      {"stateless, 3 backends", with(usual(), backends(3)), Arrivals::known, {}, {}, {}},
      {"stateless, 1,000 backends", with(usual(), backends(1000)), Arrivals::known, {}, {}, {}},
      {"hit, one flow", tracked(1), Arrivals::known, {}, {}, {}},
      {"hit, 10,000 flows", tracked(10'000), Arrivals::known, 55, {}, {}},
      {"hit, 1 million flows", tracked(million), Arrivals::known, 95, {}, {}},
      {"hit, 1 million flows, Zipf", with(tracked(million), zipf), Arrivals::known, {}, {}, {}},
      {"hit, 1 million flows, UDP", with(tracked(million), udp), Arrivals::known, {}, {}, {}},
      {"hit, 1 million flows, IPv6",
       with(tracked(million), v6),
       Arrivals::known,
       {},
       "hit, 1 million flows",
       1.3},
      {"hit, 8 million flows", tracked(8 * million), Arrivals::known, 125, {}, {}},
      {"miss, 1 million flows", tracked(million), Arrivals::unknown, {}, {}, {}},
      {"new flows", tracked(million), Arrivals::opening, 125, {}, {}},
      {"SYN flood on a full table", tracked(million), Arrivals::flood, {}, {}, {}},
  };
}

}  // namespace guideway::bench
