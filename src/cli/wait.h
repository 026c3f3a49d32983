// Wait: the end of a drain.
// What: asks again and again how many flows a draining backend still has, until it is known that there are none, or
//       until time is up.
// Why:  the client waits, so that the daemon holds neither a lock nor a thread for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "guideway/result.h"

namespace guideway {

using Ask = std::function<Result<nlohmann::json>(const std::vector<std::string>& words)>;

// Whether a director can know when the drain has ended; asked before it begins.
[[nodiscard]] Result<void> can_wait(const Ask& ask, const std::string& pool);
// What a look has found. `unseen` says why there may be more flows than counted; empty where there are not.
struct Left {
  std::uint64_t flows = 0;
  std::string unseen;
};
// Told at every look.
using Progress = std::function<void(const Left& left)>;
// The number of milliseconds that it took; timeout (exit code 4) with the number of flows left.
[[nodiscard]] Result<std::chrono::milliseconds> wait_drained(const Ask& ask, const std::string& pool,
                                                             const std::string& backend,
                                                             std::optional<std::chrono::milliseconds> limit,
                                                             const Progress& progress = {});

}  // namespace guideway
