#include "sites.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace guideway::sites {
namespace {

rc::Gen<std::string> any_name() {
  return rc::gen::resize(
      63, rc::gen::suchThat(rc::gen::container<std::string>(rc::gen::elementOf(std::string(
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"))),
                            [](const std::string& s) { return !s.empty() && s.size() <= 63; }));
}

template <class E>
E any_of(std::initializer_list<E> values) {
  return *rc::gen::elementOf(std::vector<E>(values));
}

std::optional<std::uint64_t> any_seed() {
  return *rc::gen::arbitrary<bool>() ? std::optional(*rc::gen::arbitrary<std::uint64_t>()) : std::nullopt;
}

IpAddress any_address(Family family, std::size_t salt) {
  IpAddress out;
  out.family = family;
  if (family == Family::ipv4)
    out.bytes = {10, *rc::gen::arbitrary<std::uint8_t>(), static_cast<std::uint8_t>(salt >> 8),
                 static_cast<std::uint8_t>(salt)};
  else {
    for (auto& byte : out.bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
    out.bytes[0] = 0xfd;
    out.bytes[14] = static_cast<std::uint8_t>(salt >> 8);
    out.bytes[15] = static_cast<std::uint8_t>(salt);
  }
  return out;
}

std::chrono::milliseconds any_span(int min, int max) {
  return std::chrono::milliseconds(*rc::gen::inRange(min, max + 1));
}

HealthCheck any_health() {
  HealthCheck out;
  out.type = any_of({HealthCheckType::none, HealthCheckType::tcp, HealthCheckType::http});
  out.port = *rc::gen::inRange<std::uint16_t>(1, 65535);
  out.path = "/" + *rc::gen::container<std::string>(rc::gen::inRange<char>(0x21, 0x7f));
  if (*rc::gen::arbitrary<bool>()) out.host = *any_name();
  out.interval = any_span(100, 3'600'000);
  out.timeout = any_span(10, static_cast<int>(out.interval.count()));
  out.rise = *rc::gen::inRange(1U, 256U);
  out.fall = *rc::gen::inRange(1U, 256U);
  out.initial = any_of({Health::up, Health::down});
  return out;
}

std::uint32_t any_timeout() { return *rc::gen::inRange(100U, 600'000'000U); }

Pool any_pool(const std::string& name) {
  Pool out;
  out.name = name;
  out.rows = any_of<std::uint32_t>({251, 1009, 65537, 4999999});  // four of them are allowed
  out.affinity = any_of({Affinity::flow, Affinity::client});
  out.hop_rules.hops = *rc::gen::inRange(1U, 4U);
  out.hop_rules.panic = *rc::gen::inRange(0, 1001) / 1000.0;
  out.hop_rules.none_healthy = any_of({NoneHealthy::all, NoneHealthy::drop});
  out.deal = any_of({DealMode::stable, DealMode::scratch});
  out.seed = any_seed();
  out.udp_checksum = *rc::gen::arbitrary<bool>();
  out.copy_tos = *rc::gen::arbitrary<bool>();
  out.flow_table = *rc::gen::arbitrary<bool>();
  out.gue_port = *rc::gen::inRange<std::uint16_t>(1, 65535);
  out.too_big = any_of({TooBig::fragment, TooBig::drop});
  out.on_down = any_of({OnDown::keep, OnDown::move});
  out.timeouts = {any_timeout(), any_timeout(), any_timeout(), any_timeout()};
  if (*rc::gen::arbitrary<bool>()) out.health = any_health();
  const Family family = any_of({Family::ipv4, Family::ipv6});
  const auto names = *rc::gen::resize(12, rc::gen::unique<std::vector<std::string>>(any_name()));
  for (std::size_t i = 0; i < names.size(); ++i)
    out.backends.push_back({names[i], any_address(family, i), *rc::gen::inRange(1U, 65536U),
                            any_of({BackendState::active, BackendState::draining, BackendState::disabled})});
  return out;
}

// Services on addresses of their own, so that none claims another's ports.
Service any_service(const std::string& name, std::size_t number, const std::string& pool) {
  Service out;
  out.name = name;
  out.pool = pool;
  const auto low = static_cast<std::uint8_t>(number);
  if (*rc::gen::arbitrary<bool>()) {
    out.address = ip(fmt::format("203.0.113.{}", low));
    if (*rc::gen::arbitrary<bool>()) {
      out.address = ip(fmt::format("198.18.{}.0", low));
      out.prefix_length = 24;
    }
  } else {
    out.address = ip(fmt::format("2001:db8::{:x}:0", low + 1));
    out.prefix_length = any_of<std::uint8_t>({112, 128});
  }
  out.protocol = any_of<std::uint8_t>({6, 17});
  std::uint32_t next = 1;
  for (int i = *rc::gen::inRange(0, 5); i > 0 && next < 60000; --i) {
    const auto first = static_cast<std::uint16_t>(next + *rc::gen::inRange(0U, 1000U));
    const auto last =
        static_cast<std::uint16_t>(first + (*rc::gen::arbitrary<bool>() ? *rc::gen::inRange(0, 1000) : 0));
    out.ports.push_back({first, last});
    next = last + 1U;
  }
  out.unmatched = any_of({Unmatched::kernel, Unmatched::drop});
  out.ping = any_of({Ping::answer, Ping::forward, Ping::kernel});
  return out;
}

}  // namespace

Site any_valid() {
  Site out;
  out.hash_seed = any_seed();
  const auto pools = *rc::gen::resize(4, rc::gen::unique<std::vector<std::string>>(any_name()));
  for (const std::string& name : pools) out.pools.push_back(any_pool(name));
  if (pools.empty()) return out;
  const auto services = *rc::gen::resize(5, rc::gen::unique<std::vector<std::string>>(any_name()));
  for (std::size_t i = 0; i < services.size(); ++i)
    out.services.push_back(any_service(services[i], i, *rc::gen::elementOf(pools)));
  return out;
}

SiteVersion version_of(const Site& site) { return after(SiteVersion{}, ReplaceSite{site}); }

SiteVersion after(const SiteVersion& version, const Change& change) {
  auto planned = plan(version, {}, change);
  EXPECT_TRUE(planned) << planned.error().text();
  return planned->after;
}

bool same(const SiteVersion& a, const SiteVersion& b) {
  if (a.epoch != b.epoch || !(a.site == b.site) || a.seatings.size() != b.seatings.size()) return false;
  return std::all_of(a.seatings.begin(), a.seatings.end(),
                     [&](const auto& entry) { return *entry.second == *b.seatings.at(entry.first); });
}

std::vector<Row> rows_of(const SiteVersion& version, const Pool& pool, const HealthView& health) {
  const Seating& seating = *version.seatings.at(pool.name);
  return build_rows(seating, statuses_of(seating, pool, health), pool.hop_rules);
}

}  // namespace guideway::sites
