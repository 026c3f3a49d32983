#include "command/change_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/difference.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "state/plan_sentences.h"

namespace guideway {
namespace {

using nlohmann::json;

json backend_moves_json(const BackendMoves& moves) {
  return {{"name", moves.backend},
          {"seats_before", moves.seats_before},
          {"seats_after", moves.seats_after},
          {"first_before", moves.first_before},
          {"first_after", moves.first_after},
          {"rows_won", moves.first_gained},
          {"rows_lost", moves.first_lost}};
}

json pool_moves_json(const PoolMoves& moves) {
  json backends = json::array();
  for (const BackendMoves& backend : moves.backends) backends.push_back(backend_moves_json(backend));
  json drained = json::array();
  for (const DrainedFlows& left : moves.drained)
    drained.push_back({{"name", left.backend},
                       {"live_flows", left.flows ? json(*left.flows) : json(nullptr)},
                       {"unseen_flows", unseen_json(left.unseen)}});
  return {{"pool", moves.pool},
          {"rows", moves.rows},
          {"rows_before", moves.rows_before},
          {"seats_moved", moves.seats_moved},
          {"rows_moved", moves.first_moved},
          {"rows_breaking", moves.rows_breaking},
          {"breaking", moves.breaking},
          {"rows_forgotten", moves.rows_forgotten},
          {"rows_stand_in_forgotten", moves.rows_stand_in_forgotten},
          {"rows_by_table", moves.rows_by_table},
          {"ends_new_flows", moves.ends_new_flows},
          {"drained", std::move(drained)},
          {"backends", std::move(backends)}};
}

std::string pool_sentence(const json& pool) {
  const std::string name = pool.at("pool").get<std::string>();
  const auto number = [&pool](const char* key) { return pool.at(key).get<std::uint64_t>(); };
  const std::uint64_t rows = number("rows"), before = number("rows_before"), moved = number("rows_moved");
  std::uint64_t taken = 0;
  for (const json& backend : pool.at("backends")) taken += backend.at("first_after").get<std::uint64_t>();
  const std::string taking =
      taken == 0 ? "nobody takes new flows" : grouped(taken) + " of them take new flows";
  if (before == 0) return fmt::format("pool {}: new, {}, {}\n", name, counted(rows, "row"), taking);
  if (rows == 0) return fmt::format("pool {}: goes with its {}\n", name, counted(before, "row"));
  if (rows != before)
    return fmt::format("pool {}: {} instead of {}, all dealt anew, {}\n", name, counted(rows, "row"),
                       grouped(before), taking);
  const auto seats = number("seats_moved");
  const std::string held = seats == 0   ? "no seat moves"
                           : seats == 1 ? "1 seat moves"
                                        : grouped(seats) + " seats move";
  if (moved == 0) return fmt::format("pool {}: no row sends new flows elsewhere, {}\n", name, held);
  if (taken == 0)
    return fmt::format("pool {}: {} of {} rows take no new flows any more, {}\n", name, grouped(moved),
                       grouped(rows), held);
  return fmt::format("pool {}: {} of {} rows send new flows elsewhere, {}\n", name, grouped(moved),
                     grouped(rows), held);
}

// "21,846" or "21,846 -> 0".
Cell before_and_after(const json& backend, const char* before_key, const char* after_key) {
  const auto before = backend.at(before_key).get<std::uint64_t>();
  const auto after = backend.at(after_key).get<std::uint64_t>();
  return to_the_right(before == after ? grouped(after) : grouped(before) + " -> " + grouped(after));
}

std::string moves_table(const json& pool, bool color) {
  TextTable table({"BACKEND", "SEATS", "TAKES NEW FLOWS OF", "ROWS WON", "ROWS LOST"});
  for (const json& backend : pool.at("backends")) {
    table.add({backend.at("name").get<std::string>(),
               before_and_after(backend, "seats_before", "seats_after"),
               before_and_after(backend, "first_before", "first_after"),
               backend.at("rows_won").get<std::uint64_t>(), backend.at("rows_lost").get<std::uint64_t>()});
  }
  return table.empty() ? "" : table.text(color);
}

std::string sentences(const json& list, std::string_view kind, Tone tone, bool color) {
  std::string out;
  for (const json& sentence : list)
    out += toned(fmt::format("{}: ", kind), tone, color) + sentence.get<std::string>() + "\n";
  return out;
}

std::string breaking_sentences(const json& answer, bool color) {
  if (!answer.at("breaks").empty())
    return sentences(answer.at("breaks"), "breaks", Tone::bad, color) +
           "it is done only with --force: " + answer.at("instead").get<std::string>() + "\n";
  const json& pools = answer.at("pools");
  const auto any = [&pools](const char* key) {
    return std::any_of(pools.begin(), pools.end(), [key](const json& pool) { return pool.at(key) != 0; });
  };
  if (any("rows_forgotten"))
    return "breaks no connection that began since the last deal; older ones: see the warning\n";
  if (any("rows_stand_in_forgotten"))
    return "breaks nothing, unless a backend has stood in for another: see the warning\n";
  if (any("rows_by_table")) return "breaks nothing that this director knows; see the note\n";
  if (std::any_of(pools.begin(), pools.end(), [](const json& pool) { return !pool.at("drained").empty(); }))
    return "breaks nothing: who leaves has no live flows here\n";
  return "breaks nothing: whoever may have live flows stays among the hops of its rows\n";
}

std::string render_plan(const json& answer, bool color) {
  std::string out = toned("plan, nothing has been done:", Tone::strong, color) + "\n";
  for (const json& change : answer.at("changes")) out += "  " + change.get<std::string>() + "\n";
  for (const json& pool : answer.at("pools")) out += "\n" + pool_sentence(pool) + moves_table(pool, color);
  out += "\n" + breaking_sentences(answer, color);
  return out + fmt::format("the site would be at epoch {}\n", answer.at("epoch").get<std::uint64_t>());
}

std::string render_done(const json& answer, bool color) {
  std::string out;
  for (const json& change : answer.at("changes")) out += change.get<std::string>() + "\n";
  for (const json& pool : answer.at("pools")) out += pool_sentence(pool);
  out += sentences(answer.at("breaks"), "by --force", Tone::bad, color);
  out += fmt::format("done, epoch {}\n", answer.at("epoch").get<std::uint64_t>());
  return out;
}

}  // namespace

CommitOptions commit_options(const Arguments& arguments) {
  CommitOptions options;
  options.force = arguments.force;
  options.expect_epoch = arguments.expect_epoch;
  return options;
}

json change_json(const Plan& plan, const Arguments& arguments) {
  json pools = json::array();
  json services_cut = json::array();
  for (const ServiceCut& cut : plan.services_cut) services_cut.push_back(cut.service);
  std::uint64_t rows_moved = 0, seats_moved = 0, rows_breaking = 0;
  for (const PoolMoves& moves : plan.pools) {
    rows_moved += moves.first_moved;
    seats_moved += moves.seats_moved;
    rows_breaking += moves.rows_breaking;
    pools.push_back(pool_moves_json(moves));
  }
  return {{"command", arguments.command->name()},
          {"result", plan.no_op          ? "unchanged"
                     : arguments.dry_run ? "planned"
                                         : "done"},
          {"epoch", static_cast<std::uint64_t>(plan.after.epoch)},
          {"changes", difference(plan.before.site, plan.after.site)},
          {"rows_moved", rows_moved},
          {"seats_moved", seats_moved},
          {"rows_breaking", rows_breaking},
          {"services_cut", std::move(services_cut)},
          {"needs_force", plan.needs_force()},
          {"breaks", breaks_of(plan)},
          {"instead", plan.needs_force() ? instead_of_force(plan) : ""},
          {"notes", notes_of(plan)},
          {"pools", std::move(pools)},
          {"warnings", plan.warnings}};
}

Result<json> carry_out(Context& context, const Arguments& arguments, const Change& change) {
  if (auto fresh = check_epoch(context.version(), commit_options(arguments)); !fresh)
    return tl::unexpected<Error>(fresh.error());
  const auto plan =
      arguments.dry_run ? context.plan(change) : context.commit(change, commit_options(arguments));
  if (!plan) return tl::unexpected<Error>(plan.error());
  return change_json(*plan, arguments);
}

std::string render_change(const json& answer, bool color) {
  std::string out;
  const std::string result = answer.at("result").get<std::string>();
  if (result == "unchanged") {
    out = fmt::format("nothing to do, the site is so already; epoch {}\n",
                      answer.at("epoch").get<std::uint64_t>());
  } else {
    out = result == "planned" ? render_plan(answer, color) : render_done(answer, color);
  }
  return out + sentences(answer.at("notes"), "note", Tone::plain, color) +
         sentences(answer.at("warnings"), "warning", Tone::warn, color);
}

}  // namespace guideway
