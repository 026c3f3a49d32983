// Sites: sites for tests: small fixed ones, and any valid one within a RapidCheck property.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "snapshot/snapshot.h"
#include "state/plan.h"
#include "state/site.h"

namespace guideway::sites {

inline IpAddress ip(const std::string& text) { return *IpAddress::parse(text); }

inline Backend backend(int number, std::uint32_t weight = 100) {
  return {.name = fmt::format("web-{}", number),
          .address = ip(fmt::format("10.0.{}.{}", number / 200, number % 200 + 1)),
          .weight = weight};
}

// Pool "web" of `size` backends, web-1 to web-<size>.
inline Pool pool(int size, std::uint32_t rows = 1009) {
  Pool out;
  out.name = "web";
  out.rows = rows;
  for (int i = 1; i <= size; ++i) out.backends.push_back(backend(i));
  return out;
}

inline Service service(const std::string& pool = "web") {
  return {.name = "www", .address = ip("203.0.113.10"), .ports = {{80, 80}, {443, 443}}, .pool = pool};
}

// One pool, one service, a seed.
inline Site site(int size = 3, std::uint32_t rows = 1009) {
  Site out;
  out.hash_seed = 0x5eed;
  out.pools.push_back(pool(size, rows));
  out.services.push_back(service());
  return out;
}

// Within rc::check: a valid site, with every field of the document somewhere off its default.
[[nodiscard]] Site any_valid();

// The first version of a site, and the one after a change that is not refused.
[[nodiscard]] SiteVersion version_of(const Site& site);
[[nodiscard]] SiteVersion after(const SiteVersion& version, const Change& change);
// Epoch, site and seatings, each by value.
[[nodiscard]] bool same(const SiteVersion& a, const SiteVersion& b);
// Built from nothing, without recent rows.
[[nodiscard]] std::vector<Row> rows_of(const SiteVersion& version, const Pool& pool,
                                       const HealthView& health);
[[nodiscard]] inline std::vector<Row> rows_of(const SnapshotPool& pool) {
  return {pool.rows.begin(), pool.rows.end()};
}

}  // namespace guideway::sites
