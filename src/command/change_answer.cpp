#include "command/change_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/difference.h"
#include "command/text_table.h"

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
  return {{"pool", moves.pool},
          {"rows", moves.rows},
          {"seats_moved", moves.seats_moved},
          {"rows_moved", moves.first_moved},
          {"rows_breaking", moves.rows_breaking},
          {"breaking", moves.breaking},
          {"rows_forgotten", moves.rows_forgotten},
          {"backends", std::move(backends)}};
}

std::string pool_sentence(const json& pool) {
  const auto moved = pool.at("rows_moved").get<std::uint64_t>();
  const auto seats = pool.at("seats_moved").get<std::uint64_t>();
  const std::string held = seats == 0   ? "no seat moves"
                           : seats == 1 ? "1 seat moves"
                                        : grouped(seats) + " seats move";
  const std::string name = pool.at("pool").get<std::string>();
  if (moved == 0) return fmt::format("pool {}: no row sends new flows elsewhere, {}\n", name, held);
  return fmt::format("pool {}: {} of {} rows send new flows elsewhere, {}\n", name, grouped(moved),
                     grouped(pool.at("rows").get<std::uint64_t>()), held);
}

// "21,846" or "21,846 -> 0".
Cell before_and_after(const json& backend, const char* before_key, const char* after_key) {
  const auto before = backend.at(before_key).get<std::uint64_t>();
  const auto after = backend.at(after_key).get<std::uint64_t>();
  Cell cell(before == after ? grouped(after) : grouped(before) + " -> " + grouped(after));
  cell.right = true;
  return cell;
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

std::string breaking_sentences(const json& answer, bool color) {
  std::string out;
  for (const json& pool : answer.at("pools")) {
    const auto rows = pool.at("rows_breaking").get<std::uint64_t>();
    if (rows == 0) continue;
    std::string names;
    for (const json& name : pool.at("breaking"))
      names += (names.empty() ? "" : ", ") + name.get<std::string>();
    out += toned(fmt::format("breaks: live flows of {} on {} of pool {} would find no hop to it any more",
                             names, counted(rows, "row"), pool.at("pool").get<std::string>()),
                 Tone::bad, color) +
           "\n";
  }
  for (const json& service : answer.at("services_cut")) {
    out += toned(fmt::format("breaks: all connections of {} are decided anew", service.get<std::string>()),
                 Tone::bad, color) +
           "\n";
  }
  if (out.empty()) {
    const json& pools = answer.at("pools");
    const bool forgets = std::any_of(pools.begin(), pools.end(),
                                     [](const json& pool) { return pool.at("rows_forgotten") != 0; });
    return forgets ? "breaks no connection that began since the last deal; older ones: see the warning\n"
                   : "breaks nothing: whoever may have live flows stays among the hops of its rows\n";
  }
  return out + "it is done only with --force; a drain first lets the flows end\n";
}

std::string render_plan(const json& answer, bool color) {
  std::string out = toned("plan, nothing has been done:", Tone::strong, color) + "\n";
  for (const json& change : answer.at("changes")) out += "  " + change.get<std::string>() + "\n";
  for (const json& pool : answer.at("pools")) out += "\n" + pool_sentence(pool) + moves_table(pool, color);
  out += "\n" + breaking_sentences(answer, color);
  return out + fmt::format("the site would be at epoch {}\n", answer.at("epoch").get<std::uint64_t>());
}

std::string render_done(const json& answer) {
  std::string out;
  for (const json& change : answer.at("changes")) out += change.get<std::string>() + "\n";
  for (const json& pool : answer.at("pools")) out += pool_sentence(pool);
  out += fmt::format("done, epoch {}\n", answer.at("epoch").get<std::uint64_t>());
  if (answer.contains("waited_ms")) {
    out += fmt::format("its last open flow has ended, after {:.1f} s\n",
                       answer.at("waited_ms").get<double>() / 1000);
  }
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
          {"services_cut", plan.services_cut},
          {"needs_force", plan.needs_force()},
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
    out = result == "planned" ? render_plan(answer, color) : render_done(answer);
  }
  for (const json& warning : answer.at("warnings")) {
    out += toned("warning: ", Tone::warn, color) + warning.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace guideway
