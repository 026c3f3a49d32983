#include "daemon/live_flow_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "dataplane/flow_class.h"
#include "state/snapshot_names.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;

// A worker comes round in microseconds, and needs a thousand rounds for a table of a million flows.
constexpr std::chrono::seconds purge_wait = 2s;
constexpr std::chrono::microseconds purge_round = 500us;

FlowPhase phase_of(FlowClass flow_class) {
  switch (flow_class) {
    case FlowClass::established:
      return FlowPhase::established;
    case FlowClass::closing:
    case FlowClass::reset:
      return FlowPhase::closing;
    case FlowClass::udp_fresh:
    case FlowClass::udp:
      return FlowPhase::udp;
    case FlowClass::fresh:
    case FlowClass::none:
      break;
  }
  return FlowPhase::fresh;
}

const BackendPlace* place_of(const Snapshot& snapshot, BackendId id) {
  if (to_index(id) >= snapshot.backends.size()) return nullptr;
  const BackendPlace& place = snapshot.backends[to_index(id)];
  return place.pool == nullptr ? nullptr : &place;
}

const std::string& name_of(const SiteVersion& version, const BackendPlace& place) {
  return version.seatings.at(place.pool->name)->members[place.slot].name;
}

}  // namespace

void LiveFlowTables::site_changed(std::shared_ptr<const SiteVersion> version,
                                  std::shared_ptr<const Snapshot> snapshot) {
  const std::lock_guard lock(mutex_);
  published_ = {std::move(version), std::move(snapshot)};
}

LiveFlowTables::Published LiveFlowTables::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

FlowsReport LiveFlowTables::report() {
  FlowsReport out;
  const Published published = this->published();
  if (published.version == nullptr) return out;
  const Snapshot& snapshot = *published.snapshot;
  std::vector<FlowCounts> by_id(snapshot.backends.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    WorkerFlows worker{workers_.lcore(i), 0, workers_.flows(i).capacity()};
    workers_.flows(i).for_each(workers_.clock().now_ms(), [&](const FlowTable::Sight& sight) {
      ++worker.flows;
      if (place_of(snapshot, sight.backend) == nullptr)
        ++out.gone;
      else
        ++by_id[to_index(sight.backend)].of(phase_of(sight.flow_class));
    });
    out.workers.push_back(worker);
  }
  for (const auto& pool : snapshot.pools) {
    const auto& members = published.version->seatings.at(pool->name)->members;
    for (std::size_t slot = 0; slot < members.size(); ++slot)
      out.backends.push_back({pool->name, members[slot].name, by_id[to_index(pool->backends[slot].id)]});
  }
  return out;
}

std::vector<FlowEntry> LiveFlowTables::find(std::uint64_t flow_hash) {
  std::vector<FlowEntry> out;
  const Published published = this->published();
  if (published.version == nullptr) return out;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const auto sight = workers_.flows(i).look_at(flow_hash, workers_.clock().now_ms());
    if (!sight) continue;
    FlowEntry entry;
    entry.lcore = workers_.lcore(i);
    entry.phase = phase_of(sight->flow_class);
    entry.left = std::chrono::milliseconds(sight->left_ms);
    if (const BackendPlace* place = place_of(*published.snapshot, sight->backend)) {
      entry.pool = place->pool->name;
      entry.backend = name_of(*published.version, *place);
      const std::chrono::milliseconds timeout(timeout_of(sight->flow_class, place->pool->timeouts));
      entry.quiet = std::max(timeout - entry.left, 0ms);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

Result<std::uint64_t> LiveFlowTables::purge(const std::string& pool, const std::string& backend) {
  const Published published = this->published();
  const auto id = published.version == nullptr
                      ? std::nullopt
                      : backend_id(*published.version, *published.snapshot, pool, backend);
  return id ? carry_out({*id, std::nullopt}) : 0;
}

Result<std::uint64_t> LiveFlowTables::purge(std::uint64_t flow_hash) {
  return carry_out({no_backend, flow_hash});
}

Result<std::uint64_t> LiveFlowTables::carry_out(const FlowPurgeOrder& order) {
  const std::lock_guard lock(purging_);
  const auto all_idle = [this] {
    for (std::size_t i = 0; i < workers_.size(); ++i)
      if (!workers_.purge(i).idle()) return false;
    return true;
  };
  const auto wait = [&] {
    const auto end = std::chrono::steady_clock::now() + purge_wait;
    while (!all_idle()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(purge_round);
    }
    return true;
  };
  const auto late = [](std::string_view what) {
    return fail(ErrorKind::timeout, fmt::format("a worker did not answer within {} s", purge_wait.count()),
                "flow purge", std::string(what) + "; see `guideway stats`: do its counters move?");
  };
  if (!wait()) return late("a purge from before is still to be done, so nothing was asked of it");
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_.purge(i).ask(order);
  if (!wait()) return late("it will do it when it comes round");
  std::uint64_t removed = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) removed += workers_.purge(i).removed();
  return removed;
}

}  // namespace guideway
