#include "command/pool_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "command/backend_commands.h"
#include "command/change_answer.h"
#include "command/pool_alarm.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

std::uint64_t count_of(const json& backends, std::string_view key, std::string_view value) {
  return static_cast<std::uint64_t>(std::count_if(backends.begin(), backends.end(), [&](const json& backend) {
    return backend.at(std::string(key)).get<std::string>() == value;
  }));
}

// Numbers of more than 32 bits are cut to the largest, which the site's own check refuses with its range.
std::uint32_t to_32(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

std::string check_text(const json& check) {
  const std::string type = check.at("type").get<std::string>();
  if (type == "none") return "none";
  return fmt::format("{} port {}{}, every {}, timeout {}, rise {}, fall {}", type,
                     check.at("port").get<int>(),
                     check.contains("path") ? " " + check.at("path").get<std::string>() : "",
                     check.at("interval").get<std::string>(), check.at("timeout").get<std::string>(),
                     check.at("rise").get<int>(), check.at("fall").get<int>());
}

std::string joined(const json& names) {
  std::string out;
  for (const json& name : names) out += (out.empty() ? "" : ", ") + name.get<std::string>();
  return out.empty() ? "none" : out;
}

// What its counts leave out is that of the backend which takes longest to be known.
std::string flow_table_text(const json& pool) {
  if (!pool.at("flow_table").get<bool>()) return "off";
  std::size_t unknown = 0;
  const json* longest = nullptr;
  for (const json& backend : pool.at("backends")) {
    const auto unseen = backend.find("unseen_flows");
    if (unseen == backend.end() || unseen->is_null()) continue;
    ++unknown;
    if (longest == nullptr || longest->at("known_in_ms") < unseen->at("known_in_ms")) longest = &*unseen;
  }
  if (unknown == 0) return "on";
  return fmt::format("on; {} may have flows in none: {}", counted(unknown, "backend"),
                     longest->at("sentence").get<std::string>());
}

}  // namespace

Result<json> list_pools(Context& context, const Arguments&) {
  json pools = json::array();
  for (const Pool& pool : context.version().site.pools) {
    json entry = pool_json(context, pool);
    const json backends = backends_json(context, pool);
    entry["backends"] = {{"total", backends.size()},
                         {"active", count_of(backends, "state", "active")},
                         {"draining", count_of(backends, "state", "draining")},
                         {"disabled", count_of(backends, "state", "disabled")},
                         {"down", count_of(backends, "health", "down")}};
    pools.push_back(std::move(entry));
  }
  return json{{"pools", std::move(pools)}};
}

Result<json> show_pool(Context& context, const Arguments& arguments) {
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  json out = pool_json(context, **pool);
  out["backends"] = backends_json(context, **pool);
  out["alarms"] = json::array();
  if (auto alarm = alarm_of(context, **pool)) out["alarms"].push_back(std::move(*alarm));
  return out;
}

Result<json> add_pool(Context& context, const Arguments& arguments) {
  Pool pool;
  pool.name = arguments.at("NAME");
  if (const auto text = arguments.find("encapsulation"))
    pool.encapsulation = *find_word<Encapsulation>(*text);
  if (const auto text = arguments.find("affinity")) pool.affinity = *find_word<Affinity>(*text);
  if (const auto text = arguments.find("deal")) pool.deal = *find_word<DealMode>(*text);
  if (const auto text = arguments.find("none-healthy"))
    pool.hop_rules.none_healthy = *find_word<NoneHealthy>(*text);
  if (const auto text = arguments.find("on-down")) pool.on_down = *find_word<OnDown>(*text);
  if (const auto text = arguments.find("rows")) pool.rows = to_32(*number_value(*text));
  if (const auto text = arguments.find("hops")) pool.hop_rules.hops = to_32(*number_value(*text));
  if (const auto text = arguments.find("seed")) pool.seed = *seed_value(*text);
  if (const auto text = arguments.find("tos")) pool.copy_tos = *text == "copy";
  if (const auto text = arguments.find("udp-checksum")) pool.udp_checksum = *text == "on";
  if (const auto text = arguments.find("flow-table")) pool.flow_table = *text == "on";
  if (const auto text = arguments.find("health")) pool.health = *check_value(*text);
  auto answer = carry_out(context, arguments, AddPool{std::move(pool)});
  // A new pool is all made of this command's words: what is wrong with it was typed wrong.
  if (!answer && answer.error().kind == ErrorKind::invalid) answer.error().kind = ErrorKind::usage;
  return answer;
}

Result<json> remove_pool(Context& context, const Arguments& arguments) {
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  return carry_out(context, arguments, RemovePool{(*pool)->name});
}

std::string render_pools(const json& answer, bool color) {
  TextTable table(
      {"POOL", "ENCAPSULATION", "ROWS", "BACKENDS", "ACTIVE", "DRAINING", "DISABLED", "DOWN", "SERVICES"});
  for (const json& pool : answer.at("pools")) {
    const json& backends = pool.at("backends");
    const auto number = [&](const char* key) { return Cell(backends.at(key).get<std::uint64_t>()); };
    Cell down = number("down");
    if (down.text != "0") down.tone = Tone::bad;
    table.add({pool.at("name").get<std::string>(), pool.at("encapsulation").get<std::string>(),
               pool.at("rows").get<std::uint64_t>(), number("total"), number("active"), number("draining"),
               number("disabled"), down, joined(pool.at("services"))});
  }
  if (table.empty()) return "no pools; add one with `guideway pool add NAME`\n";
  return table.text(color);
}

std::string render_pool(const json& answer, bool color) {
  TextList list;
  list.add("name", answer.at("name").get<std::string>());
  list.add("encapsulation", answer.at("encapsulation").get<std::string>());
  list.add("rows", grouped(answer.at("rows").get<std::uint64_t>()));
  list.add("hops", std::to_string(answer.at("hops").get<int>()));
  for (const char* key : {"affinity", "deal", "seed", "tos"})
    list.add(key, answer.at(key).get<std::string>());
  list.add("none healthy", answer.at("none_healthy").get<std::string>());
  list.add("on down", answer.at("on_down").get<std::string>());
  list.add("panic", fmt::format("{}", answer.at("panic").get<double>()));
  const json& timeouts = answer.at("timeouts");
  std::string spans;
  for (const char* key : {"new", "established", "closing", "udp"})
    spans += fmt::format("{}{} {}", spans.empty() ? "" : ", ", key, timeouts.at(key).get<std::string>());
  list.add("timeouts", spans);
  list.add("flow table", flow_table_text(answer));
  list.add("health check", check_text(answer.at("health")));
  list.add("services", joined(answer.at("services")));
  list.add("site digest", answer.at("site_digest").get<std::string>());
  return list.text(color) + "\n" + render_backends(answer, color);
}

}  // namespace guideway
