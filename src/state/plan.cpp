#include "state/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "state/pool_rows.h"
#include "state/seatings.h"
#include "state/site_check.h"

namespace guideway {
namespace {

// One pool of one version: what comparing needs. Absent pools have no members and no rows.
struct PoolView {
  const Pool* pool = nullptr;
  std::shared_ptr<const Seating> seating;
  std::vector<const Backend*> backends;  // by member
  std::vector<MemberStatus> status;
  RecentRows::Shared shared_rows;
  std::span<const Row> rows;

  [[nodiscard]] std::uint32_t row_count() const { return static_cast<std::uint32_t>(rows.size()); }
  [[nodiscard]] const std::string& name(MemberIndex member) const { return seating->members[member].name; }
  [[nodiscard]] MemberIndex first(std::uint32_t row) const {
    return rows[row].takes_new != 0 ? rows[row].hop[0] : no_member;
  }
};

PoolView view_of(const SiteVersion& version, const std::string& name, const HealthView& health,
                 RecentRows& recent) {
  PoolView view;
  view.pool = version.site.find_pool(name);
  if (view.pool == nullptr) return view;
  view.seating = version.seatings.at(name);
  view.backends = backends_by_member(*view.seating, *view.pool);
  view.status = statuses_of(*view.seating, *view.pool, health);
  view.shared_rows = recent.get(view.seating, view.status, view.pool->hop_rules);
  view.rows = *view.shared_rows;
  return view;
}

// Members of one view as members of the other, by name.
std::vector<MemberIndex> mapping(const PoolView& from, const PoolView& to) {
  std::vector<MemberIndex> out(from.backends.size(), no_member);
  for (std::size_t i = 0, j = 0; i < from.backends.size(); ++i) {
    const std::string& name = from.seating->members[i].name;
    while (j < to.backends.size() && to.seating->members[j].name < name) ++j;
    if (j < to.backends.size() && to.seating->members[j].name == name) out[i] = static_cast<MemberIndex>(j);
  }
  return out;
}

bool same_rows(const PoolView& before, const PoolView& after) {
  return before.pool != nullptr && after.pool != nullptr && before.seating->seed == after.seating->seed &&
         before.seating->row_count == after.seating->row_count &&
         before.pool->affinity == after.pool->affinity;
}

// Which backends of before can have connections that the change ends whatever the rows say: taken out,
// disabled or put at another address while in service. A backend that was drained had its time, and one that
// is down has no connections left to lose.
std::vector<bool> cut_off(const PoolView& before, const PoolView& after, const std::vector<MemberIndex>& to) {
  std::vector<bool> out(before.backends.size(), false);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (before.status[i].state != BackendState::active || before.status[i].health == Health::down) continue;
    const Backend* now = to[i] == no_member ? nullptr : after.backends[to[i]];
    out[i] =
        now == nullptr || now->state == BackendState::disabled || now->address != before.backends[i]->address;
  }
  return out;
}

bool has_hop(const Row& row, MemberIndex member) {
  return std::find(row.hop.begin(), row.hop.end(), member) != row.hop.end();
}

// Rows with connections that would find no way to their backend any more.
void count_breaking(const PoolView& before, const PoolView& after, const std::vector<MemberIndex>& to,
                    PoolMoves& out) {
  const std::vector<bool> cut = cut_off(before, after, to);
  const bool rows_kept = same_rows(before, after);
  // With a flow table only a cut ends a connection; without one the row must still name its backend.
  const bool rows_decide = !rows_kept || !before.pool->flow_table || !after.pool->flow_table;
  std::vector<bool> breaks(before.backends.size(), false);
  const auto is_lost = [&](MemberIndex member, std::uint32_t row) {
    if (member == no_member || before.status[member].state == BackendState::disabled) return false;
    if (cut[member]) return true;
    if (!rows_decide || to[member] == no_member || before.status[member].health == Health::down) return false;
    return !rows_kept || !has_hop(after.rows[row], to[member]);
  };
  // Hops carry the flows of one deal. Whether any is left from before the last one, nobody knows: told, not refused.
  const auto is_forgotten = [&](MemberIndex former, std::uint32_t row) {
    return rows_decide && rows_kept && former != no_member && to[former] != no_member &&
           before.status[former].state != BackendState::disabled && has_hop(before.rows[row], former) &&
           !has_hop(after.rows[row], to[former]);
  };
  for (std::uint32_t row = 0; row < before.row_count(); ++row) {
    const MemberIndex first = before.first(row), holder = before.seating->holder[row],
                      former = before.seating->former[row];
    // New flows go to the first; established ones are also with the holder of the seat (it may be draining);
    // the former may keep some from before the last deal, which only a cut ends for certain.
    const bool first_lost = is_lost(first, row), holder_lost = is_lost(holder, row);
    const bool former_lost = former != no_member && cut[former];
    if (first_lost) breaks[first] = true;
    if (holder_lost) breaks[holder] = true;
    if (former_lost) breaks[former] = true;
    if (first_lost || holder_lost || former_lost)
      ++out.rows_breaking;
    else if (is_forgotten(former, row))
      ++out.rows_forgotten;
  }
  for (std::size_t i = 0; i < breaks.size(); ++i)
    if (breaks[i]) out.breaking.push_back(before.name(static_cast<MemberIndex>(i)));
}

// Per backend of before and after, in name order.
class MovesByName {
 public:
  MovesByName(const std::string& pool, const PoolView& before, const PoolView& after) : pool_(pool) {
    for (const PoolView* view : {&before, &after})
      for (std::size_t i = 0; i < view->backends.size(); ++i) moves_[view->seating->members[i].name];
    before_ = slots(before);
    after_ = slots(after);
  }
  BackendMoves* before(MemberIndex member) { return member == no_member ? nullptr : before_[member]; }
  BackendMoves* after(MemberIndex member) { return member == no_member ? nullptr : after_[member]; }
  std::vector<BackendMoves> take() {
    std::vector<BackendMoves> out;
    for (auto& [name, moves] : moves_) {
      moves.pool = pool_;
      moves.backend = name;
      out.push_back(std::move(moves));
    }
    return out;
  }

 private:
  std::vector<BackendMoves*> slots(const PoolView& view) {
    std::vector<BackendMoves*> out;
    for (std::size_t i = 0; i < view.backends.size(); ++i)
      out.push_back(&moves_[view.seating->members[i].name]);
    return out;
  }
  std::string pool_;
  std::map<std::string, BackendMoves> moves_;
  std::vector<BackendMoves*> before_, after_;
};

void count_moves(const PoolView& before, const PoolView& after, PoolMoves& out) {
  MovesByName moves(out.pool, before, after);
  for (std::uint32_t row = 0; row < std::max(before.row_count(), after.row_count()); ++row) {
    const bool was = row < before.row_count(), is = row < after.row_count();
    BackendMoves* held_before = was ? moves.before(before.seating->holder[row]) : nullptr;
    BackendMoves* held_after = is ? moves.after(after.seating->holder[row]) : nullptr;
    BackendMoves* first_before = was ? moves.before(before.first(row)) : nullptr;
    BackendMoves* first_after = is ? moves.after(after.first(row)) : nullptr;
    if (held_before != nullptr) ++held_before->seats_before;
    if (held_after != nullptr) ++held_after->seats_after;
    if (first_before != nullptr) ++first_before->first_before;
    if (first_after != nullptr) ++first_after->first_after;
    if (held_before != held_after) ++out.seats_moved;
    if (first_before == first_after) continue;
    ++out.first_moved;
    if (first_before != nullptr) ++first_before->first_lost;
    if (first_after != nullptr) ++first_after->first_gained;
  }
  out.backends = moves.take();
}

// Something that rows, hops or live flows depend on.
bool pool_changes(const SiteVersion& before, const SiteVersion& after, const std::string& name,
                  const Pool* was, const Pool* is) {
  return was == nullptr || is == nullptr || !(*was == *is) ||
         before.seatings.at(name) != after.seatings.at(name);
}

PoolMoves pool_moves(const SiteVersion& before, const SiteVersion& after, const std::string& name,
                     const HealthView& health, RecentRows& recent) {
  const PoolView was = view_of(before, name, health, recent);
  const PoolView is = view_of(after, name, health, recent);
  PoolMoves out;
  out.pool = name;
  out.rows = is.pool != nullptr ? is.row_count() : was.row_count();
  count_moves(was, is, out);
  const bool in_use = std::any_of(before.site.services.begin(), before.site.services.end(),
                                  [&](const Service& s) { return s.pool == name; });
  // A pool that goes away has lost its services in the same change; those are named for themselves.
  if (in_use && was.pool != nullptr && is.pool != nullptr) count_breaking(was, is, mapping(was, is), out);
  return out;
}

std::string forgotten_sentence(const PoolMoves& moves) {
  return fmt::format(
      "pool \"{}\" keeps no flow table, and its rows remember one deal: on {} of {} of them connections that "
      "began "
      "before the last deal may break; make deals (add, remove, weight) as far apart as connections live",
      moves.pool, moves.rows_forgotten, moves.rows);
}

void compare_services(const Site& before, const Site& after, Plan& out) {
  std::map<std::string_view, const Service*> now;
  for (const Service& service : after.services) now.emplace(service.name, &service);
  for (const Service& service : before.services) {
    const auto found = now.find(service.name);
    if (found == now.end()) {
      out.warnings.push_back(
          fmt::format("service \"{}\" goes: its connections end, and packets to {} are no longer ours",
                      service.name, service.address.text()));
      continue;
    }
    const Service& is = *found->second;
    if (is.pool != service.pool || is.address != service.address || is.protocol != service.protocol ||
        is.prefix_length != service.prefix_length)
      out.services_cut.push_back(service.name);
  }
}

}  // namespace

bool Plan::needs_force() const {
  return !services_cut.empty() || std::any_of(pools.begin(), pools.end(),
                                              [](const PoolMoves& moves) { return moves.rows_breaking > 0; });
}

Plan compared(const SiteVersion& before, SiteVersion after, const HealthView& health, RecentRows& recent) {
  Plan out;
  out.before = before;
  std::map<std::string, std::pair<const Pool*, const Pool*>> pools;  // before and after, in name order
  for (const Pool& pool : before.site.pools) pools[pool.name].first = &pool;
  for (const Pool& pool : after.site.pools) pools[pool.name].second = &pool;
  for (const auto& [name, pair] : pools)
    if (pool_changes(before, after, name, pair.first, pair.second))
      out.pools.push_back(pool_moves(before, after, name, health, recent));
  compare_services(before.site, after.site, out);
  for (const PoolMoves& moves : out.pools)
    if (moves.rows_forgotten > 0) out.warnings.push_back(forgotten_sentence(moves));
  for (std::string& warning : warnings_of(after.site)) out.warnings.push_back(std::move(warning));
  out.after = std::move(after);
  return out;
}

Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                  RecentRows& recent) {
  auto site = applied(before.site, change);
  if (!site) return tl::unexpected(std::move(site.error()));
  auto seatings = dealt_seatings(before, *site);
  if (const auto* replace = std::get_if<ReplaceSite>(&change); seatings && replace != nullptr)
    seatings = with_imported(std::move(*seatings), replace->seatings, *site);
  if (!seatings) return tl::unexpected(std::move(seatings.error()));
  if (*site == before.site && *seatings == before.seatings) {
    Plan out;
    out.before = out.after = before;
    out.no_op = true;
    return out;
  }
  SiteVersion after;
  after.epoch = Epoch{to_index(before.epoch) + 1};
  after.seatings = std::move(*seatings);
  after.site = std::move(*site);
  return compared(before, std::move(after), health, recent);
}

Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change) {
  RecentRows none;
  return plan(before, health, change, none);
}

}  // namespace guideway
