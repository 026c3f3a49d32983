#include "state/flow_witness.h"

#include <algorithm>

namespace guideway {
namespace {

using std::chrono::milliseconds;

void keep_latest(std::optional<milliseconds>& ago, const std::atomic<std::uint32_t>& mark,
                 std::uint32_t now_ms) {
  const std::uint32_t at = mark.load(std::memory_order_relaxed);
  if (at == BackendMarks::never) return;
  // A worker's clock may be a burst ahead of the reader's.
  const auto age = milliseconds(std::max(static_cast<std::int32_t>(now_ms - at), 0));
  ago = ago ? std::min(*ago, age) : age;
}

}  // namespace

void FlowMarks::add(const WorkerCounters& counters, BackendId backend, std::uint32_t now_ms) {
  keep_latest(stranger, counters.marks(backend).stranger_ms, now_ms);
  keep_latest(refused, counters.marks(backend).refused_ms, now_ms);
  any_stranger |= counters.verdicts.strangers.get() != 0;
}

FlowWitness::Since FlowWitness::since(const BackendIdentity& backend, const Pool& pool,
                                      milliseconds now) const {
  Since out{std::nullopt, now, pool.flow_table, milliseconds(pool.timeouts.established_ms)};
  if (!started_) {
    out.why = Unseen::started;
  } else if (const auto before = present_.find(backend); before != present_.end()) {
    out.why = before->second.why;
    out.when = before->second.when;
    if (pool.flow_table && !before->second.flow_table) {
      out.why = Unseen::table_on;
      out.when = now;
    }
  } else if (gone_.contains(backend)) {
    out.why = Unseen::came_back;
  }
  return out;
}

void FlowWitness::follow(const Site& site, milliseconds now) {
  std::erase_if(gone_,
                [now](const auto& entry) { return now - entry.second.when >= entry.second.established; });
  std::map<BackendIdentity, Since> present;
  for (const Pool& pool : site.pools) {
    for (const Backend& backend : pool.backends) {
      BackendIdentity identity{pool.name, backend.name, backend.address};
      const Since entry = since(identity, pool, now);
      present.emplace(std::move(identity), entry);
    }
  }
  for (auto& [identity, entry] : present_) {
    if (present.contains(identity)) continue;
    entry.when = now;
    gone_.insert_or_assign(identity, entry);
  }
  for (const auto& [identity, entry] : present) gone_.erase(identity);
  present_ = std::move(present);
  started_ = true;
}

std::optional<UnseenFlows> FlowWitness::unseen(const Pool& pool, const Backend& backend, milliseconds now,
                                               const FlowMarks& marks) const {
  const milliseconds established(pool.timeouts.established_ms);
  std::optional<UnseenFlows> longest;
  const auto consider = [&](Unseen why, milliseconds ago) {
    if (ago < established && (!longest || ago < longest->ago))
      longest = UnseenFlows{why, ago, established - ago};
  };
  if (const auto found = present_.find({pool.name, backend.name, backend.address});
      found != present_.end() && found->second.why) {
    const bool served_nothing_before =
        found->second.why == Unseen::started && first_start_ && !marks.any_stranger;
    if (!served_nothing_before) consider(*found->second.why, now - found->second.when);
  }
  if (marks.refused) consider(Unseen::table_full, *marks.refused);
  if (marks.stranger) consider(Unseen::strangers, *marks.stranger);
  return longest;
}

}  // namespace guideway
