#include "state/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "state/duration.h"
#include "state/pool_rows.h"
#include "state/quantity.h"
#include "state/seatings.h"
#include "state/site_check.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

// One pool of one version: what comparing needs. Absent pools have no members and no rows.
struct PoolView {
  const Pool* pool = nullptr;
  std::shared_ptr<const Seating> seating;
  std::vector<const Backend*> backends;  // by member
  std::vector<MemberStatus> status;
  RecentRows::Shared counted;
  std::span<const Row> rows;  // of `counted`

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
  view.counted = recent.get(view.seating, view.status, view.pool->rules());
  view.rows = view.counted->rows();
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

// Members are the same by number, and so are the seats.
bool same_seating(const PoolView& before, const PoolView& after) {
  return before.seating != nullptr && before.seating == after.seating;
}

// All rows that differ, and where it is not known which do, all rows; of the same seating.
template <class Visit>
void visit_differing(const PoolView& before, const PoolView& after, Visit visit) {
  if (const auto differing = CountedRows::differing(before.counted, after.counted)) {
    for (const std::uint32_t row : *differing) visit(row);
  } else {
    for (std::uint32_t row = 0; row < before.row_count(); ++row)
      if (!(before.rows[row] == after.rows[row])) visit(row);
  }
}

bool anybody_takes_new(const PoolView& view) {
  return view.counted != nullptr && view.counted->anybody_takes_new();
}

bool has_hop(const Row& row, MemberIndex member) {
  return std::find(row.hop.begin(), row.hop.end(), member) != row.hop.end();
}

// What a change takes from one pool's connections.
class Breaking {
 public:
  Breaking(const PoolView& before, const PoolView& after, const LiveFlows& flows, PoolMoves& out)
      : before_(before),
        after_(after),
        to_(mapping(before, after)),
        rows_kept_(same_rows(before, after)),
        // With a flow table only a cut ends a connection; without one the row must still name its backend.
        rows_decide_(!rows_kept_ || !before.pool->flow_table || !after.pool->flow_table),
        cut_(before.backends.size(), false),
        breaks_(before.backends.size(), false),
        out_(out) {
    out_.flow_table = before.pool->flow_table && after.pool->flow_table;
    for (std::size_t i = 0; i < cut_.size(); ++i) cut_[i] = is_cut(i, flows);
  }

  void count() {
    // Where nobody is cut, a row that stays as it is takes nothing from anybody.
    const bool any_cut = std::find(cut_.begin(), cut_.end(), true) != cut_.end();
    const bool may_skip = !any_cut && rows_kept_ && same_seating(before_, after_);
    if (may_skip && !rows_decide_) {
      visit_differing(before_, after_, [&](std::uint32_t row) { count_row(row); });
    } else {
      for (std::uint32_t row = 0; row < before_.row_count(); ++row)
        if (!may_skip || !stays(row)) count_row(row);
    }
    for (std::size_t i = 0; i < breaks_.size(); ++i)
      if (breaks_[i]) out_.breaking.push_back(before_.name(static_cast<MemberIndex>(i)));
    out_.ends_new_flows = anybody_takes_new(before_) && !anybody_takes_new(after_);
  }

 private:
  // Whether the backend can have connections that the change ends whatever the rows say: it is taken out, disabled or
  // put at another address while in service, or while its drain is not known to have ended. A failed check says nothing
  // of the connections that it has (on_down = "keep": they go on), so one that is down is asked for like a draining one.
  bool is_cut(std::size_t member, const LiveFlows& flows) {
    const MemberStatus& status = before_.status[member];
    if (status.state == BackendState::disabled) return false;
    const bool down = status.health == Health::down;
    if (down && before_.pool->on_down == OnDown::move) return false;
    const Backend& was = *before_.backends[member];
    const Backend* now = to_[member] == no_member ? nullptr : after_.backends[to_[member]];
    if (now != nullptr && now->state != BackendState::disabled && now->address == was.address) return false;
    if (status.state == BackendState::active && !down) {
      out_.cut.push_back(was.name);
      return true;
    }
    DrainedFlows left{was.name, std::nullopt, std::nullopt};
    if (before_.pool->flow_table && flows.count) {
      const FlowCount counted = flows.count(before_.pool->name, was.name);
      left.flows = counted.open;
      left.unseen = counted.unseen;
    }
    out_.drained.push_back(left);
    return left.may_break();
  }

  // Without a flow table, with the seat's holder among its hops.
  bool stays(std::uint32_t row) const {
    const MemberIndex holder = before_.seating->holder[row];
    return before_.rows[row] == after_.rows[row] &&
           (holder == no_member || has_hop(before_.rows[row], holder));
  }

  void count_row(std::uint32_t row) {
    const MemberIndex first = before_.first(row), holder = before_.seating->holder[row],
                      former = before_.seating->former[row];
    // New flows go to the first; established ones are also with the holder of the seat (it may be draining);
    // the former may keep some from before the last deal, which only a cut ends for certain.
    const bool first_lost = is_lost(first, row), holder_lost = is_lost(holder, row);
    const bool former_lost = former != no_member && cut_[former];
    if (first_lost) breaks_[first] = true;
    if (holder_lost) breaks_[holder] = true;
    if (former_lost) breaks_[former] = true;
    if (first_lost || holder_lost || former_lost) {
      ++out_.rows_breaking;
    } else if (rows_decide_) {
      // Hops carry the flows of one deal. Whether any is left from before the last one, nobody knows: told, not
      // refused.
      // Nor whether a stand-in is left with any: the last hop of a row is where its flows went while others were away.
      if (!rows_kept_) return;
      if (is_left_out(former, row)) {
        ++out_.rows_forgotten;
      } else if (leaves_out_a_hop(row)) {
        ++out_.rows_stand_in_forgotten;
      }
    } else if (leaves_out_a_hop(row)) {
      ++out_.rows_by_table;
    }
  }

  bool is_lost(MemberIndex member, std::uint32_t row) const {
    if (member == no_member || before_.status[member].state == BackendState::disabled) return false;
    if (cut_[member]) return true;
    if (!rows_decide_ || to_[member] == no_member || before_.status[member].health == Health::down)
      return false;
    return !rows_kept_ || !has_hop(after_.rows[row], to_[member]);
  }

  // A hop that stays in the pool, and is none of the row's any more.
  bool is_left_out(MemberIndex member, std::uint32_t row) const {
    return member != no_member && to_[member] != no_member &&
           before_.status[member].state != BackendState::disabled && has_hop(before_.rows[row], member) &&
           !has_hop(after_.rows[row], to_[member]);
  }

  bool leaves_out_a_hop(std::uint32_t row) const {
    const auto& hops = before_.rows[row].hop;
    return std::any_of(hops.begin(), hops.end(), [&](MemberIndex hop) { return is_left_out(hop, row); });
  }

  const PoolView &before_, &after_;
  const std::vector<MemberIndex> to_;
  const bool rows_kept_, rows_decide_;
  std::vector<bool> cut_, breaks_;  // by member of before
  PoolMoves& out_;
};

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

// As count_moves, where no seat moves.
void count_first_moves(const PoolView& before, const PoolView& after, PoolMoves& out) {
  MovesByName moves(out.pool, before, after);
  for (std::size_t i = 0; i < before.backends.size(); ++i) {
    BackendMoves& one = *moves.before(static_cast<MemberIndex>(i));
    one.seats_before = one.seats_after = before.counted->seats()[i];
    one.first_before = before.counted->firsts()[i];
    one.first_after = after.counted->firsts()[i];
  }
  visit_differing(before, after, [&](std::uint32_t row) {
    const MemberIndex was = before.first(row), is = after.first(row);
    if (was == is) return;
    ++out.first_moved;
    if (was != no_member) ++moves.before(was)->first_lost;
    if (is != no_member) ++moves.after(is)->first_gained;
  });
  out.backends = moves.take();
}

void count_moves(const PoolView& before, const PoolView& after, PoolMoves& out) {
  if (same_seating(before, after)) return count_first_moves(before, after, out);
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
  // Rows of another table have nothing to do with these.
  if (before.row_count() != 0 && after.row_count() != 0 && before.row_count() != after.row_count())
    out.first_moved = out.seats_moved = after.row_count();
}

// What rows, hops or live flows depend on is not the same in both; in name order.
std::set<std::string> pools_changed(const SiteVersion& before, const SiteVersion& after) {
  std::map<std::string_view, std::pair<const Pool*, const Pool*>> not_shared;
  const SharedWith<Pool> had(before.site.pools), has(after.site.pools);
  for (const Pool& pool : before.site.pools)
    if (!has.contains(pool)) not_shared[pool.name].first = &pool;
  for (const Pool& pool : after.site.pools)
    if (!had.contains(pool)) not_shared[pool.name].second = &pool;
  std::set<std::string> out;
  for (const auto& [name, pair] : not_shared)
    if (pair.first == nullptr || pair.second == nullptr || !(*pair.first == *pair.second)) out.emplace(name);
  for (const auto& [name, seating] : after.seatings)
    if (const auto was = before.seatings.find(name); was == before.seatings.end() || was->second != seating)
      out.insert(name);
  return out;
}

PoolMoves pool_moves(const SiteVersion& before, const SiteVersion& after, const std::string& name,
                     const HealthView& health, RecentRows& recent, const LiveFlows& flows) {
  const PoolView was = view_of(before, name, health, recent);
  const PoolView is = view_of(after, name, health, recent);
  PoolMoves out;
  out.pool = name;
  out.rows = is.row_count();
  out.rows_before = was.row_count();
  out.rows_after = is.counted;
  count_moves(was, is, out);
  const bool in_use = std::any_of(before.site.services.begin(), before.site.services.end(),
                                  [&](const Service& s) { return s.pool == name; });
  // A pool that goes away has lost its services in the same change; those are named for themselves.
  if (in_use && was.pool != nullptr && is.pool != nullptr) Breaking(was, is, flows, out).count();
  return out;
}

std::string forgotten_sentence(const PoolMoves& moves) {
  return fmt::format(
      "pool \"{}\" keeps no flow table, and its rows remember one deal: on {} of {} of them connections that "
      "began before the last deal may break; make deals (add, remove, weight) as far apart as connections "
      "live",
      moves.pool, grouped(moves.rows_forgotten), grouped(moves.rows));
}

std::string stand_in_sentence(const PoolMoves& moves) {
  return fmt::format(
      "pool \"{}\" keeps no flow table: on {} of {} rows a backend is no hop any more that took new flows "
      "there if others were draining or down; connections that it got so may break",
      moves.pool, grouped(moves.rows_stand_in_forgotten), grouped(moves.rows));
}

// A count of 0 is this director's own.
std::optional<std::string> elsewhere_sentence(const PoolMoves& moves, const Pool& pool,
                                              const LiveFlows& flows) {
  std::vector<std::string> names;
  for (const DrainedFlows& left : moves.drained)
    if (!left.may_break()) names.push_back(left.backend);
  if (names.empty()) return std::nullopt;
  const std::chrono::milliseconds established(pool.timeouts.established_ms);
  std::string out =
      fmt::format("{} of pool \"{}\" {} no live flows here; other directors of the site may know some",
                  some_of(names), pool.name, names.size() == 1 ? "has" : "have");
  if (flows.known_for < established)
    out += fmt::format(", and this one has counted for {} only, less than timeouts.established ({})",
                       rough_duration(flows.known_for), print_duration(established));
  return out;
}

}  // namespace

bool Plan::needs_force() const {
  return !services_cut.empty() || std::any_of(pools.begin(), pools.end(), [](const PoolMoves& moves) {
    return moves.rows_breaking > 0 || moves.ends_new_flows ||
           std::any_of(moves.drained.begin(), moves.drained.end(),
                       [](const DrainedFlows& left) { return left.may_break(); });
  });
}

Plan compared(SiteStep step, const HealthView& health, RecentRows& recent, const LiveFlows& flows) {
  Plan out{std::move(step)};
  if (out.no_op) return out;
  const SiteVersion &before = out.before, &after = out.after;
  for (const std::string& name : pools_changed(before, after))
    out.pools.push_back(pool_moves(before, after, name, health, recent, flows));
  out.services_cut = services_cut(before.site, after.site);
  for (const PoolMoves& moves : out.pools) {
    if (moves.rows_forgotten > 0) out.warnings.push_back(forgotten_sentence(moves));
    if (moves.rows_stand_in_forgotten > 0) out.warnings.push_back(stand_in_sentence(moves));
    if (const Pool* pool = before.site.find_pool(moves.pool); pool != nullptr)
      if (auto sentence = elsewhere_sentence(moves, *pool, flows))
        out.warnings.push_back(std::move(*sentence));
  }
  for (std::string& warning : warnings_of(after.site)) out.warnings.push_back(std::move(warning));
  return out;
}

Result<SiteStep> step(const SiteVersion& before, const Change& change) {
  auto site = applied(before.site, change);
  if (!site) return tl::unexpected(std::move(site.error()));
  auto seatings = dealt_seatings(before, *site);
  if (const auto* replace = std::get_if<ReplaceSite>(&change); seatings && replace != nullptr)
    seatings = with_imported(std::move(*seatings), replace->seatings, *site);
  if (!seatings) return tl::unexpected(std::move(seatings.error()));
  SiteStep out{before, before};
  out.no_op = *site == before.site && *seatings == before.seatings;
  if (out.no_op) return out;
  out.after.epoch = Epoch{to_index(before.epoch) + 1};
  out.after.seatings = std::move(*seatings);
  out.after.site = std::move(*site);
  return out;
}

namespace {

// The same but for its backends' states, of which none becomes disabled.
bool only_drains(const Pool& before, const Pool& after) {
  if (before.backends.size() != after.backends.size()) return false;
  Pool same = before;
  for (std::size_t i = 0; i < same.backends.size(); ++i) {
    const BackendState was = before.backends[i].state, is = after.backends[i].state;
    if (is == BackendState::disabled && was != BackendState::disabled) return false;
    same.backends[i].state = is;
  }
  return same == after;
}

// With one who takes new flows, every row has somebody who does: whoever ranks best among them (contract 1, item 5).
bool somebody_takes_new(const Seating& seating, const Pool& pool, const HealthView& health) {
  const std::vector<MemberStatus> status = statuses_of(seating, pool, health);
  const std::vector<bool> takes_new = takes_new_flows(seating.members, status, pool.rules());
  return std::find(takes_new.begin(), takes_new.end(), true) != takes_new.end();
}

}  // namespace

bool breaks_nobody(const SiteStep& step, const HealthView& health) {
  const SiteVersion &before = step.before, &after = step.after;
  if (before.site.hash_seed != after.site.hash_seed || !before.site.services.shares(after.site.services) ||
      before.seatings != after.seatings || before.site.pools.size() != after.site.pools.size())
    return false;
  const auto is_harmless = [&](std::size_t i) {
    const auto &was = before.site.pools.share(i), &is = after.site.pools.share(i);
    return was == is || (was->flow_table && only_drains(*was, *is) &&
                         somebody_takes_new(*after.seatings.at(is->name), *is, health));
  };
  for (std::size_t i = 0; i < after.site.pools.size(); ++i)
    if (!is_harmless(i)) return false;
  return true;
}

Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                  RecentRows& recent, const LiveFlows& flows) {
  auto next = step(before, change);
  if (!next) return tl::unexpected(std::move(next.error()));
  return compared(std::move(*next), health, recent, flows);
}

Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                  const LiveFlows& flows) {
  RecentRows none;
  return plan(before, health, change, none, flows);
}

}  // namespace guideway
