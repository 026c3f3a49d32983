#include "cli/wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "state/quantity.h"

namespace guideway {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds pause_first{50}, pause_max{1000};

// Flows left on the backend.
Result<Left> flows_left(const Ask& ask, const std::string& pool, const std::string& backend) {
  const auto answer = ask({"backend", "list", pool});
  if (!answer) return tl::unexpected<Error>(answer.error());
  for (const json& entry : answer->at("backends")) {
    if (entry.at("name") != backend) continue;
    if (entry.contains("live_flows")) {
      const json unseen = entry.value("unseen_flows", json(nullptr));
      return Left{entry.at("live_flows").get<std::uint64_t>(),
                  unseen.is_null() ? std::string() : unseen.at("sentence").get<std::string>()};
    }
    return fail(ErrorKind::refused,
                fmt::format("{} is {} now", backend, entry.at("state").get<std::string>()), "pool " + pool,
                "somebody ended the drain; drain again if it shall be drained");
  }
  return fail(ErrorKind::not_found, fmt::format("{} is no backend any more", backend), "pool " + pool,
              "somebody removed it; there is nothing to wait for");
}

std::string still_there(const std::string& backend, const Left& left) {
  if (left.unseen.empty()) return fmt::format("{} still has {}", backend, counted(left.flows, "live flow"));
  return fmt::format("{} {} and may have flows that nobody here has counted: {}", backend,
                     left.flows == 0 ? "has no live flows that this director knows"
                                     : "still has " + counted(left.flows, "live flow"),
                     left.unseen);
}

}  // namespace

Result<void> can_wait(const Ask& ask, const std::string& pool) {
  const auto answer = ask({"pool", "show", pool});
  if (!answer) return tl::unexpected<Error>(answer.error());
  if (answer->at("flow_table").get<bool>()) return {};
  return fail(ErrorKind::refused,
              "the pool keeps no flow table, so no director knows when the flows have ended", "pool " + pool,
              "drain without --wait and look at the backend's own connections");
}

Result<milliseconds> wait_drained(const Ask& ask, const std::string& pool, const std::string& backend,
                                  std::optional<milliseconds> limit, const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = [begin] {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
  };
  for (milliseconds pause = pause_first;; pause = std::min(pause * 2, pause_max)) {
    const auto left = flows_left(ask, pool, backend);
    if (!left) return tl::unexpected<Error>(left.error());
    if (progress) progress(*left);
    if (left->flows == 0 && left->unseen.empty()) return waited();
    if (limit && waited() >= *limit) {
      return fail(
          ErrorKind::timeout, "time is up, " + still_there(backend, *left), "pool " + pool,
          fmt::format(
              "it goes on draining; wait again, or break them: `guideway backend remove {} {} --force`", pool,
              backend));
    }
    std::this_thread::sleep_for(limit ? std::min(pause, std::max(*limit - waited(), milliseconds(1)))
                                      : pause);
  }
}

}  // namespace guideway
