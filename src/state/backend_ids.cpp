#include "state/backend_ids.h"

#include <fmt/format.h>

#include <algorithm>

namespace guideway {
namespace {

// Workers may still use the snapshot before for a burst after a backend left.
constexpr std::chrono::milliseconds publish_margin{2000};

}  // namespace

Result<void> BackendIds::assign(std::vector<BackendIdentity> present, std::chrono::milliseconds now,
                                std::chrono::milliseconds rest) {
  now_ = std::max(now_, now);  // a capture's clock may step back
  rest_ = std::max(rest_, rest);
  std::sort(present.begin(), present.end());
  const std::size_t fresh = static_cast<std::size_t>(
      std::count_if(present.begin(), present.end(), [&](const auto& b) { return !ids_.contains(b); }));
  const auto has_rested = [&](const Resting& r) { return r.since + rest_ + publish_margin <= now_; };
  const auto rested = static_cast<std::size_t>(
      std::find_if_not(resting_.begin(), resting_.end(), has_rested) - resting_.begin());
  if (fresh > rested + (capacity_ - unused_))
    return fail(
        ErrorKind::refused,
        fmt::format("{} backends need an id and {} are free; {} more rest because flow-table entries can "
                    "hold them",
                    fresh, rested + (capacity_ - unused_), resting_.size() - rested),
        {}, fmt::format("try again in {} s", rest_.count() / 1000));

  std::map<BackendIdentity, BackendId> kept;
  for (BackendIdentity& backend : present) {
    if (auto old = ids_.extract(backend)) {
      kept.insert(std::move(old));
    } else if (unused_ < capacity_) {
      kept.emplace(std::move(backend), BackendId{static_cast<std::uint32_t>(unused_++)});
    } else {
      kept.emplace(std::move(backend), resting_.front().id);
      resting_.pop_front();
    }
  }
  for (const auto& [backend, id] : ids_) resting_.push_back({id, now_});
  ids_ = std::move(kept);
  end_ = 0;
  for (const auto& [backend, id] : ids_) end_ = std::max(end_, to_index(id) + 1);
  return {};
}

std::optional<BackendId> BackendIds::find(const BackendIdentity& backend) const {
  const auto found = ids_.find(backend);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace guideway
