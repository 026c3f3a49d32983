// Site check: what must hold in a site as a whole, whoever made it: a document, a command or the journal.
// What: the first fault, with its place as indices, so that a parser can turn it into a line and column and a
//       command into names; and warnings that refuse nothing.
// Not:  the form of a document (site_file.h), what the host can do (control/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/result.h"
#include "snapshot/ids.h"
#include "state/site.h"

namespace guideway {

inline constexpr std::size_t services_max = service_ids_max;
inline constexpr std::size_t pools_max = 65536;
// Of all pools together: a row costs 12 bytes, and up to three times as much while a change of all pools is made.
inline constexpr std::uint64_t rows_total_max = 20'000'000;
inline constexpr std::size_t port_ranges_max = 1024;  // of one service

struct SitePlace {
  std::optional<std::size_t> pool, backend, service;  // indices; backend is within pool
  std::string_view section;                           // "health", "timeouts" or empty
  std::string_view field;                             // key of the document; empty: the object itself
};

struct SiteFault {
  SitePlace place;
  Error error;  // `where` is left to whoever knows how to say it
};

[[nodiscard]] std::optional<SiteFault> first_fault(const Site& site);
// The same, where `good` has no fault: what the site shares with it is not looked at again.
[[nodiscard]] std::optional<SiteFault> first_fault(const Site& site, const Site& good);
// Sentences without a place: "hash_seed is absent: …".
[[nodiscard]] std::vector<std::string> warnings_of(const Site& site);

}  // namespace guideway
