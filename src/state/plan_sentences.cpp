#include "state/plan_sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/quantity.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

bool is_drained(const PoolMoves& moves, const std::string& backend) {
  return std::any_of(moves.drained.begin(), moves.drained.end(),
                     [&](const DrainedFlows& left) { return left.backend == backend; });
}

std::string rows_sentence(const PoolMoves& moves) {
  std::vector<std::string> names;
  for (const std::string& name : moves.breaking)
    if (!is_drained(moves, name)) names.push_back(name);
  if (names.empty()) return {};
  return fmt::format("{} of {} rows of pool \"{}\" would lose connections of {}",
                     grouped(moves.rows_breaking), grouped(moves.rows_before), moves.pool, some_of(names));
}

std::string drained_sentence(const PoolMoves& moves, const DrainedFlows& left) {
  if (left.flows && left.unseen)
    return fmt::format("{} of pool \"{}\" {} and may have flows that nobody here has counted: {}",
                       left.backend, moves.pool,
                       *left.flows == 0 ? "has no live flows that this director knows"
                                        : "still has " + counted(*left.flows, "live flow"),
                       unseen_sentence(*left.unseen));
  if (left.flows)
    return fmt::format("{} of pool \"{}\" still has {}", left.backend, moves.pool,
                       counted(*left.flows, "live flow"));
  return fmt::format("{} of pool \"{}\" may still have connections: {}", left.backend, moves.pool,
                     moves.flow_table ? "there is no running director here that counts them"
                                      : "the pool keeps no flow table, so nobody here counts them");
}

std::string service_sentence(const ServiceCut& cut) {
  return fmt::format("service \"{}\": {} connections{} {}", cut.service, cut.ports.empty() ? "all" : "the",
                     (cut.ports.empty() ? std::string() : " on ports " + ports_text(cut.ports)) +
                         (cut.some_addresses ? " of a part of its addresses" : ""),
                     cut.unserved ? "would end: nobody would serve them" : "would be decided anew");
}

// The first pool for which `wanted` gives a hint.
template <class Hint>
std::string first_hint(const Plan& plan, Hint wanted) {
  for (const PoolMoves& moves : plan.pools)
    if (std::string hint = wanted(moves); !hint.empty()) return hint;
  return {};
}

std::string drain_hint(const PoolMoves& moves) {
  if (moves.cut.empty()) return {};
  return fmt::format(
      "drain {}first (`guideway backend drain {} {} --wait`{}) or, to break them, repeat with --force",
      moves.cut.size() == 1 ? "" : "them ", moves.pool, moves.cut.front(),
      moves.cut.size() == 1 ? "" : " and so on");
}

// After the drain `undo` would undo the drain: what the undo was to do is done by the command that does it.
std::string instead_of_undo(const Plan& plan, const PoolMoves& moves) {
  const std::string& name = moves.cut.front();
  const Pool* pool = plan.after.site.find_pool(moves.pool);
  const Backend* backend = pool == nullptr ? nullptr : pool->find_backend(name);
  std::string then;
  if (pool == nullptr)
    then = fmt::format("take the pool out with `guideway pool remove {}`", moves.pool);
  else if (backend == nullptr)
    then = fmt::format("`guideway backend remove {} {}`", moves.pool, name);
  else if (backend->state == BackendState::disabled)
    then = fmt::format("`guideway backend disable {} {}`", moves.pool, name);
  else
    then = "apply a file of the site as it was";
  return fmt::format(
      "drain {}first (`guideway backend drain {} {} --wait`), then {}{}; `undo` would only undo the drain. "
      "Or, to break {}, repeat with --force",
      moves.cut.size() == 1 ? "" : "them ", moves.pool, name, then,
      moves.cut.size() == 1 ? "" : ", and so on", moves.cut.size() == 1 ? "its connections" : "them");
}

std::string undo_hint(const Plan& plan) {
  if (!plan.undo) return {};
  return first_hint(plan, [&plan](const PoolMoves& moves) -> std::string {
    if (moves.ends_new_flows)
      return fmt::format(
          "let another backend of {} take new flows first, then do by commands what `undo` was to do (it "
          "would only undo that), or repeat with --force",
          moves.pool);
    return moves.cut.empty() ? std::string() : instead_of_undo(plan, moves);
  });
}

std::string wait_hint(const PoolMoves& moves) {
  for (const DrainedFlows& left : moves.drained)
    if (left.flows && left.may_break())
      return fmt::format(
          "wait {} (`guideway backend drain {} {} --wait`) or, to break them, repeat with --force",
          *left.flows != 0 ? "for them" : "until it is known", moves.pool, left.backend);
  for (const DrainedFlows& left : moves.drained)
    if (!left.flows)
      return fmt::format("look at the connections of {} itself, then repeat with --force", left.backend);
  return {};
}

std::string add_hint(const PoolMoves& moves) {
  if (!moves.ends_new_flows) return {};
  return fmt::format(
      "let another backend of {} take new flows first (undrain, enable or add one), or repeat with "
      "--force",
      moves.pool);
}

}  // namespace

std::vector<std::string> breaks_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const PoolMoves& moves : plan.pools) {
    if (std::string rows = rows_sentence(moves); !rows.empty()) out.push_back(std::move(rows));
    for (const DrainedFlows& left : moves.drained)
      if (left.may_break()) out.push_back(drained_sentence(moves, left));
    if (moves.ends_new_flows)
      out.push_back(
          fmt::format("pool \"{}\" would take no new flows: no backend is left that does", moves.pool));
  }
  for (const ServiceCut& cut : plan.services_cut) out.push_back(service_sentence(cut));
  return out;
}

std::string instead_of_force(const Plan& plan) {
  if (std::string out = undo_hint(plan); !out.empty()) return out;
  for (const auto hint : {add_hint, drain_hint, wait_hint})
    if (std::string out = first_hint(plan, hint); !out.empty()) return out;
  return "to do it all the same, repeat with --force";
}

std::vector<std::string> notes_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const PoolMoves& moves : plan.pools)
    if (moves.rows_by_table > 0)
      out.push_back(fmt::format(
          "pool \"{}\": on {} of {} rows a backend that may have live flows is no hop any more; they are "
          "kept by this director's flow table only",
          moves.pool, grouped(moves.rows_by_table), grouped(moves.rows)));
  return out;
}

}  // namespace guideway
