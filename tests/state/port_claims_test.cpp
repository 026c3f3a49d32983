#include "state/port_claims.h"

#include <gtest/gtest.h>

#include <random>

namespace guideway {
namespace {

TEST(PortClaims, AgreeWithLookingAtAll) {
  std::mt19937 random(5);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random()) % bound; };
  std::size_t found = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Service> services(below(40));
    std::vector<const Service*> all;
    for (Service& service : services) {
      all.push_back(&service);
      for (std::uint32_t n = below(4); n > 0; --n) {
        const std::uint32_t first = below(2) == 0 ? below(60) : 0xffff - below(60), length = below(20);
        service.ports.push_back({static_cast<std::uint16_t>(first),
                                 static_cast<std::uint16_t>(std::min(first + length, 0xffffU))});
      }
    }
    const PortClaims claims(all);
    const auto share = [](const Service& a, const Service& b) {
      const auto meet = [](const PortRange& x, const PortRange& y) {
        return x.first <= y.last && y.first <= x.last;
      };
      return a.ports.empty() || b.ports.empty() || std::ranges::any_of(a.ports, [&](const PortRange& x) {
               return std::ranges::any_of(b.ports, [&](const PortRange& y) { return meet(x, y); });
             });
    };
    for (const Service& service : services) {
      std::vector<const Service*> expected;
      for (const Service* other : all)
        if (share(service, *other)) expected.push_back(other);
      EXPECT_EQ(claims.sharing(service), expected);
      found += expected.size();
    }
  }
  EXPECT_GT(found, 10'000U);
}

}  // namespace
}  // namespace guideway
