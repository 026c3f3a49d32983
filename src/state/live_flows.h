// Live flows: what a director knows of the flows that its backends still have.
// Why:  a plan that cuts off a draining backend must know whether anybody is left on it, and whether the count is all
//       there is: a flow that began before this director counted is in no table.
// Not:  flows of pools without a flow table, or of the site's other directors: nobody here counts those. Since when
//       a director has seen all flows begin is flow_witness.h's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace guideway {

// Why a backend may have flows that are in no table of this director.
enum class Unseen : std::uint8_t {
  started,     // this director has started since they may have begun
  came_back,   // the backend was away and is in the pool again
  table_on,    // the pool's flow table was turned on
  table_full,  // a flow table had no room for one of its flows, or these were purged
  strangers,   // connections that this director did not see begin go on, and may be its own
};
// In the order of the enum; for JSON and metrics.
inline constexpr std::string_view unseen_names[] = {"started", "came_back", "table_on", "table_full",
                                                    "strangers"};

struct UnseenFlows {
  Unseen why = Unseen::started;
  std::chrono::milliseconds ago{0};       // when that was (the last time)
  std::chrono::milliseconds known_in{0};  // the count will be all there is, if that does not happen again
  friend bool operator==(const UnseenFlows&, const UnseenFlows&) = default;
};

// "this director started 40 s ago, and ...; it will be known in 15 min".
[[nodiscard]] std::string unseen_sentence(const UnseenFlows& unseen);

// Of one backend.
struct FlowCount {
  std::uint64_t open = 0;             // in this director's flow tables
  std::optional<UnseenFlows> unseen;  // there may be more
};

struct LiveFlows {
  // Reads the flow tables whole. Empty where nothing runs.
  std::function<FlowCount(const std::string& pool, const std::string& backend)> count;
  std::chrono::milliseconds known_for{0};  // since when the tables are filled
};

}  // namespace guideway
