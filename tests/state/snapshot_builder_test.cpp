// The snapshot builder: what the workers get is what the site and the health view say, and no more is built anew
// than changed.
#include "state/snapshot_builder.h"

#include <gtest/gtest.h>

#include "sites.h"
#include "state/snapshot_names.h"

namespace guideway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const OuterSources both{sites::ip("192.0.2.1"), sites::ip("2001:db8::1")};

struct Built : testing::Test {
  NextHops next_hops;
  SnapshotBuilder builder{both, next_hops};

  std::shared_ptr<const Snapshot> build(const SiteVersion& version, const HealthView& health = {},
                                        milliseconds now = seconds(0)) {
    auto out = builder.build(version, std::make_shared<const HealthView>(health), now);
    EXPECT_TRUE(out) << out.error().text();
    return std::move(*out);
  }
};

TEST_F(Built, HoldsWhatTheSiteSays) {
  const SiteVersion version = sites::version_of(sites::site(3));
  const auto snapshot = build(version);
  EXPECT_EQ(snapshot->epoch, version.epoch);
  ASSERT_EQ(snapshot->pools.size(), 1U);
  const SnapshotPool& pool = *snapshot->pools[0];
  EXPECT_EQ(pool.seed, 0x5eedU);
  EXPECT_EQ(pool.outer_source, *both.ipv4);
  EXPECT_EQ(sites::rows_of(pool), sites::rows_of(version, version.site.pools[0], {}));
  ASSERT_EQ(pool.backends.size(), 3U);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    const SnapshotBackend& backend = pool.backends[slot];
    EXPECT_EQ(snapshot->backends.at(to_index(backend.id)).pool, &pool);
    EXPECT_EQ(snapshot->backends.at(to_index(backend.id)).slot, slot);
    EXPECT_EQ(backend_id(version, *snapshot, "web", version.seatings.at("web")->members[slot].name),
              backend.id);
    EXPECT_EQ(backend.next_hop, next_hops.index_of(backend.address));
  }
  ASSERT_EQ(snapshot->services.size(), 1U);
  EXPECT_EQ(snapshot->services[0].pool, &pool);
  EXPECT_EQ(service_id(*snapshot, "www"), snapshot->services[0].id);
  const IpAddress address = sites::ip("203.0.113.10");
  EXPECT_EQ(snapshot->lookup.find(Family::ipv4, address.bytes.data(), 6, 443).kind,
            ServiceMatch::Kind::service);
  EXPECT_EQ(snapshot->lookup.find(Family::ipv4, address.bytes.data(), 6, 81).kind,
            ServiceMatch::Kind::no_such_port);
  EXPECT_EQ(backend_id(version, *snapshot, "web", "nobody"), std::nullopt);
  EXPECT_EQ(backend_id(version, *snapshot, "nowhere", "web-1"), std::nullopt);
}

// More of them than there is room for at once; those of before are let go with their snapshots.
TEST_F(Built, AddressesOfBackendsComeAndGoWithoutEnd) {
  constexpr std::uint32_t backends = 200;
  Site site = sites::site(backends, 251);
  std::uint32_t next = 10U << 24;
  for (std::uint32_t used = 0; used < NextHops::capacity + 3 * backends; used += backends) {
    for (Backend& backend : site.pools.edit(0).backends) {
      ++next;
      for (unsigned byte = 0; byte < 4; ++byte)
        backend.address.bytes[byte] = static_cast<std::uint8_t>(next >> (24 - 8 * byte));
    }
    const auto snapshot = builder.build(sites::version_of(site), {}, seconds(used));
    ASSERT_TRUE(snapshot) << used << ": " << snapshot.error().text();
  }
}

// Where a packet can name one backend, rows have one hop, and flows may differ in their outer source.
TEST_F(Built, OneHopEncapsulationsHaveOneHopAndMaySpread) {
  SnapshotBuilder spreading{{both.ipv4, both.ipv6, Prefix{sites::ip("10.100.0.0"), 20}}, next_hops};
  for (const Encapsulation encapsulation :
       {Encapsulation::gue, Encapsulation::ipip, Encapsulation::gre, Encapsulation::l2}) {
    Site site = sites::site(3);
    site.pools.edit(0).encapsulation = encapsulation;
    const auto snapshot = spreading.build(sites::version_of(site), {}, seconds(0));
    ASSERT_TRUE(snapshot);
    const SnapshotPool& pool = *(*snapshot)->pools[0];
    EXPECT_EQ(pool.encapsulation, encapsulation);
    EXPECT_EQ(pool.rows[0].hop[1] == no_member, encapsulation != Encapsulation::gue);
    const bool spreads = encapsulation == Encapsulation::ipip || encapsulation == Encapsulation::gre;
    EXPECT_EQ(pool.outer_source, spreads ? sites::ip("10.100.0.0") : *both.ipv4);
    EXPECT_EQ(pool.outer_source_spread, spreads ? 0xfffU : 0U);
  }
}

TEST_F(Built, TakenBackLeavesNoTrace) {
  const SiteVersion version = sites::version_of(sites::site(3));
  const auto published = build(version);
  const SiteVersion more = sites::after(version, AddBackend{"web", sites::backend(4)});
  const auto id = backend_id(more, *build(more), "web", "web-4");
  builder.take_back();
  builder.take_back();  // there is only one
  EXPECT_EQ(build(version)->pools, published->pools) << "the pool as it was built before";
  EXPECT_EQ(backend_id(more, *build(more), "web", "web-4"), id)
      << "a number that was never published is unused";
}

TEST_F(Built, SharesPoolsThatDidNotChange) {
  Site site = sites::site(3);
  Pool other = sites::pool(2);
  other.name = "api";
  site.pools.push_back(other);
  const SiteVersion version = sites::version_of(site);
  const auto first = build(version);
  const auto second = build(sites::after(version, SetBackendState{"web", "web-1", BackendState::draining}));
  EXPECT_NE(first->pools[0], second->pools[0]);
  EXPECT_EQ(first->pools[1], second->pools[1]);
  EXPECT_EQ(first->pools[0]->id, second->pools[0]->id);
}

struct Keeps {
  const char* description;
  BackendState state;
  Health health;
  OnDown on_down;
  bool tcp, udp;
};

TEST_F(Built, SaysWhichFlowsABackendKeeps) {
  const Keeps cases[] = {
      {"active and up", BackendState::active, Health::up, OnDown::keep, true, true},
      {"draining", BackendState::draining, Health::up, OnDown::keep, true, true},
      {"disabled", BackendState::disabled, Health::up, OnDown::keep, false, false},
      {"down, keep", BackendState::active, Health::down, OnDown::keep, true, false},
      {"down, move", BackendState::active, Health::down, OnDown::move, false, false},
      {"draining and down, keep", BackendState::draining, Health::down, OnDown::keep, true, false},
      {"disabled and down", BackendState::disabled, Health::down, OnDown::keep, false, false},
      {"unknown counts as up", BackendState::active, Health::unknown, OnDown::move, true, true},
  };
  for (const Keeps& each : cases) {
    Site site = sites::site(3);
    site.pools.edit(0).on_down = each.on_down;
    site.pools.edit(0).backends[0].state = each.state;
    const auto snapshot = build(sites::version_of(site), {{"web", {{"web-1", each.health}}}});
    EXPECT_EQ(snapshot->pools[0]->backends[0].keeps_tcp, each.tcp) << each.description;
    EXPECT_EQ(snapshot->pools[0]->backends[0].keeps_udp, each.udp) << each.description;
  }
}

// Where health is ignored, a backend that is down takes new flows; it would be odd to keep none.
TEST_F(Built, KeepsUdpWhereNewFlowsGo) {
  struct Ignored {
    const char* description;
    std::size_t down;  // of three, from the first on
    double panic;
    NoneHealthy none_healthy;
    std::array<bool, 3> udp;
  };
  const Ignored cases[] = {
      {"one is down", 1, 0, NoneHealthy::all, {false, true, true}},
      {"all are down", 3, 0, NoneHealthy::all, {true, true, true}},
      {"all are down, and then none is used", 3, 0, NoneHealthy::drop, {false, false, false}},
      {"panic", 2, 0.5, NoneHealthy::all, {true, true, true}},
  };
  for (const Ignored& each : cases) {
    Site site = sites::site(3);
    site.pools.edit(0).hop_rules.panic = each.panic;
    site.pools.edit(0).hop_rules.none_healthy = each.none_healthy;
    std::map<std::string, Health> health;
    for (std::size_t n = 1; n <= each.down; ++n) health[fmt::format("web-{}", n)] = Health::down;
    const auto snapshot = build(sites::version_of(site), {{"web", health}});
    for (std::size_t slot = 0; slot < 3; ++slot)
      EXPECT_EQ(snapshot->pools[0]->backends[slot].keeps_udp, each.udp[slot])
          << each.description << " " << slot;
  }
  // A draining one that is down takes none, whatever is ignored.
  Site site = sites::site(3);
  site.pools.edit(0).backends[0].state = BackendState::draining;
  const std::map<std::string, Health> all = {
      {"web-1", Health::down}, {"web-2", Health::down}, {"web-3", Health::down}};
  const auto snapshot = build(sites::version_of(site), {{"web", all}});
  EXPECT_FALSE(snapshot->pools[0]->backends[0].keeps_udp);
  EXPECT_TRUE(snapshot->pools[0]->backends[1].keeps_udp);
}

TEST_F(Built, UpdatedRowsAreThoseBuiltAnew) {
  SiteVersion version = sites::version_of(sites::site(8));
  HealthView health;
  (void)build(version, health);
  for (int i = 1; i <= 8; ++i) {
    const std::string name = fmt::format("web-{}", i);
    if (i % 2 == 0)
      version = sites::after(version, SetBackendState{"web", name, BackendState::draining});
    else
      health["web"][name] = Health::down;
    EXPECT_EQ(sites::rows_of(*build(version, health)->pools[0]),
              sites::rows_of(version, version.site.pools[0], health))
        << name;
  }
}

TEST_F(Built, AFamilyWithoutASourceIsRefusedAndNothingChanges) {
  SnapshotBuilder only_v4({sites::ip("192.0.2.1"), std::nullopt}, next_hops);
  const SiteVersion version = sites::version_of(sites::site(1));
  const auto first = only_v4.build(version, {}, seconds(0));
  ASSERT_TRUE(first);
  Pool six;
  six.name = "six";
  six.rows = 251;
  six.backends.push_back({.name = "six-1", .address = sites::ip("fd00::1")});
  const auto refused = only_v4.build(sites::after(version, AddPool{six}), {}, seconds(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "pool \"six\": its backends have IPv6 addresses and the director has no such source; set "
            "source_ipv6 in "
            "director.toml");
  const auto again = only_v4.build(version, {}, seconds(2));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->pools[0], (*first)->pools[0]);
}

TEST_F(Built, ARemovedBackendsIdLeadsNowhere) {
  SiteVersion version = sites::version_of(sites::site(3));
  auto snapshot = build(version);
  const BackendId id = *backend_id(version, *snapshot, "web", "web-3");
  version = sites::after(version, RemoveBackend{"web", "web-3"});
  snapshot = build(version, {}, seconds(1));
  EXPECT_TRUE(to_index(id) >= snapshot->backends.size() || snapshot->backends[to_index(id)].pool == nullptr);
  version = sites::after(version, AddBackend{"web", sites::backend(3)});
  snapshot = build(version, {}, seconds(2));
  EXPECT_NE(backend_id(version, *snapshot, "web", "web-3"), id);
  EXPECT_EQ(snapshot->backends.at(to_index(id)).pool, nullptr);
}

TEST_F(Built, AThousandPoolsAreOneSnapshot) {
  Site site;
  site.hash_seed = 1;
  for (int p = 0; p < 1000; ++p) {
    Pool pool;
    pool.name = fmt::format("pool-{}", p);
    pool.rows = 251;
    for (int b = 0; b < 10; ++b)
      pool.backends.push_back({.name = fmt::format("b{}", b),
                               .address = sites::ip(fmt::format("10.{}.{}.{}", p / 250, p % 250, b + 1))});
    site.pools.push_back(pool);
    site.services.push_back({.name = fmt::format("s{}", p),
                             .address = sites::ip(fmt::format("198.18.{}.{}", p / 250, p % 250 + 1)),
                             .ports = {{80, 80}},
                             .pool = pool.name});
  }
  const SiteVersion version = sites::version_of(site);
  const auto first = build(version);
  EXPECT_EQ(first->backends.size(), 10'000U);
  const auto second = build(sites::after(version, SetBackendState{"pool-7", "b3", BackendState::draining}));
  std::size_t shared = 0;
  for (std::size_t p = 0; p < 1000; ++p) shared += first->pools[p] == second->pools[p] ? 1U : 0U;
  EXPECT_EQ(shared, 999U);
}

}  // namespace
}  // namespace guideway
