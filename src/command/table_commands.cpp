#include "command/table_commands.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/json_text.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"

namespace guideway {

using nlohmann::json;

namespace {

json row_json(const Row& row, const Seating& seating) {
  json out = json::array();
  for (const MemberIndex member : row.hop) {
    if (member < seating.members.size()) out.push_back(seating.members[member].name);
  }
  return out;
}

json rows_json(const std::vector<Row>& rows, const Seating& seating) {
  json out = json::array();
  out.get_ref<json::array_t&>().reserve(rows.size());
  for (const Row& row : rows) out.push_back(row_json(row, seating));
  return out;
}

const Seating& seating_of(const SiteVersion& version, const Pool& pool) {
  return *version.seatings.at(pool.name);
}

json digest_json(Context& context, const Pool& pool) {
  const SiteVersion& version = context.version();
  RecentRows& recent = context.recent_rows();
  return {{"pool", pool.name},
          {"rows", pool.rows},
          {"digest", hex64(rows_digest(version, pool, context.health(), recent))},
          {"site_digest", hex64(site_digest(version, pool, recent))}};
}

HealthView all_up(const Pool& pool) {
  HealthView view;
  for (const Backend& backend : pool.backends) view[pool.name][backend.name] = Health::up;
  return view;
}

bool is_row(const json& row) {
  if (!row.is_array() || row.size() > 3) return false;
  for (const json& name : row) {
    if (!name.is_string()) return false;
  }
  return true;
}

// The rows of another director, as it printed them.
Result<json> parse_rows(const std::string& text, const std::string& file, const Pool& pool) {
  const json document = parse_json(text);
  const auto refuse = [&](std::string what) {
    return fail(ErrorKind::invalid, std::move(what), file,
                fmt::format("make it with `guideway table show {} --json`", pool.name));
  };
  if (!document.is_object() || !document.contains("rows") || !document["rows"].is_array()) {
    return refuse("the file holds no rows");
  }
  const json& rows = document["rows"];
  if (rows.size() != pool.rows) {
    return refuse(fmt::format("the file has {} rows, pool {} has {}", rows.size(), pool.name, pool.rows));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_row(rows[i])) return refuse(fmt::format("row {} is not one to three names", i));
  }
  return rows;
}

std::string hop_text(const json& row, std::size_t i) {
  return i < row.size() ? row.at(i).get<std::string>() : "-";
}

std::string hops_text(const json& row) {
  std::string out;
  for (const json& name : row) out += (out.empty() ? "" : " ") + name.get<std::string>();
  return out.empty() ? "-" : out;
}

}  // namespace

Result<json> show_table(Context& context, const Arguments& arguments) {
  const SiteVersion& version = context.version();
  const auto pool = pool_of(version.site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  RecentRows& recent = context.recent_rows();
  const RowTable::Shared rows = rows_of(version, **pool, context.health(), recent);
  return json{{"pool", (*pool)->name},
              {"rows", rows_json(*rows, seating_of(version, **pool))},
              {"digest", hex64(rows_digest(version, **pool, context.health(), recent))}};
}

Result<json> digest_table(Context& context, const Arguments& arguments) {
  const SiteVersion& version = context.version();
  const auto epoch = static_cast<std::uint64_t>(version.epoch);
  if (const auto name = arguments.find("POOL")) {
    const auto pool = pool_of(version.site, *name);
    if (!pool) return tl::unexpected<Error>(pool.error());
    json out = digest_json(context, **pool);
    out["epoch"] = epoch;
    return out;
  }
  json pools = json::array();
  for (const Pool& pool : version.site.pools) pools.push_back(digest_json(context, pool));
  return json{{"epoch", epoch},
              {"site_digest", hex64(site_digest(version, context.recent_rows()))},
              {"pools", std::move(pools)}};
}

Result<json> diff_table(Context& context, const Arguments& arguments) {
  const SiteVersion& version = context.version();
  const auto pool = pool_of(version.site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  const Seating& seating = seating_of(version, **pool);
  const json here = rows_json(*rows_of(version, **pool, context.health(), context.recent_rows()), seating);
  json there;
  std::string against = "every backend up";
  if (const auto file = arguments.find("FILE")) {
    against = std::string(*file);
    auto rows = parse_rows(arguments.input, against, **pool);
    if (!rows) return rows;
    there = std::move(*rows);
  } else {
    there = rows_json(*rows_of(version, **pool, all_up(**pool), context.recent_rows()), seating);
  }
  json different = json::array();
  std::uint64_t first_differs = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i] == there[i]) continue;
    if (hop_text(here[i], 0) != hop_text(there[i], 0)) ++first_differs;
    different.push_back({{"row", i}, {"here", here[i]}, {"there", there[i]}});
  }
  return json{{"pool", (*pool)->name},          {"against", against},
              {"rows", (*pool)->rows},          {"differ", different.size()},
              {"first_differs", first_differs}, {"different", std::move(different)}};
}

std::string render_table(const json& answer, bool color) {
  TextTable table({"ROW", "FIRST", "SECOND", "THIRD"});
  std::uint64_t number = 0;
  for (const json& row : answer.at("rows")) {
    table.add({to_the_right(std::to_string(number++)), hop_text(row, 0), hop_text(row, 1), hop_text(row, 2)});
  }
  return table.text(color) + fmt::format("digest {}\n", answer.at("digest").get<std::string>());
}

std::string render_digests(const json& answer, bool color) {
  TextTable table({"POOL", "ROWS", "ROWS DIGEST", "SITE DIGEST"});
  const auto add = [&](const json& pool) {
    table.add({pool.at("pool").get<std::string>(), pool.at("rows").get<std::uint64_t>(),
               pool.at("digest").get<std::string>(), pool.at("site_digest").get<std::string>()});
  };
  const std::string epoch = fmt::format("epoch {}", answer.at("epoch").get<std::uint64_t>());
  if (!answer.contains("pools")) {
    add(answer);
    return table.text(color) + epoch + "\n";
  }
  for (const json& pool : answer.at("pools")) add(pool);
  const std::string site =
      fmt::format("{}, site digest {}\n", epoch, answer.at("site_digest").get<std::string>());
  return table.empty() ? "no pools\n" + site
                       : table.text(color) + site +
                             "rows digest: with this director's health view; site digest: every backend up\n";
}

std::string render_diff(const json& answer, bool color) {
  const auto differ = answer.at("differ").get<std::uint64_t>();
  const std::string against = answer.at("against").get<std::string>();
  const std::string rows = grouped(answer.at("rows").get<std::uint64_t>());
  if (differ == 0) return fmt::format("all {} rows are the same as with {}\n", rows, against);
  TextTable table({"ROW", "HERE", "THERE"});
  constexpr std::uint64_t shown = 40;  // a screen; who wants all of them hands them to a program
  for (const json& row : answer.at("different")) {
    if (table.size() == shown) break;
    table.add({to_the_right(std::to_string(row.at("row").get<std::uint64_t>())), hops_text(row.at("here")),
               hops_text(row.at("there"))});
  }
  std::string out = table.text(color);
  if (differ > shown) out += fmt::format("and {} more: `--json` has all of them\n", grouped(differ - shown));
  return out + fmt::format("{} of {} rows differ from {}, {} in their first hop\n", grouped(differ), rows,
                           against, grouped(answer.at("first_differs").get<std::uint64_t>()));
}

}  // namespace guideway
