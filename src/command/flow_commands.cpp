#include "command/flow_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/explain.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "state/duration.h"
#include "state/pool_rows.h"

namespace guideway {

using nlohmann::json;

namespace {

std::string_view word_of(FlowPhase phase) {
  switch (phase) {
    case FlowPhase::fresh:
      return "new";
    case FlowPhase::established:
      return "established";
    case FlowPhase::closing:
      return "closing";
    case FlowPhase::udp:
      break;
  }
  return "udp";
}

json counts_json(const FlowCounts& flows) {
  return {{"new", flows.fresh},
          {"established", flows.established},
          {"closing", flows.closing},
          {"udp", flows.udp},
          {"all", flows.all()}};
}

// Which flows stay on a backend by their entries.
struct Kept {
  bool tcp = false, udp = false;
};

Kept kept_by(Context& context, const Pool& pool, const std::string& backend) {
  const Seating& seating = *context.version().seatings.at(pool.name);
  const auto status = statuses_of(seating, pool, context.health());
  const auto takes_new = takes_new_flows(seating.members, status, pool.rules());
  for (std::size_t i = 0; i < seating.members.size(); ++i)
    if (seating.members[i].name == backend)
      return {keeps_tcp(status[i], pool.on_down), keeps_udp(status[i], takes_new[i])};
  return {};
}

// Names the options --pool and --backend; both are looked up.
struct Chosen {
  std::string pool, backend;  // empty: all
};

Result<Chosen> chosen_by(Context& context, const Arguments& arguments) {
  Chosen out;
  if (const auto name = arguments.find("pool")) out.pool = *name;
  if (const auto name = arguments.find("backend")) out.backend = *name;
  if (out.pool.empty()) {
    if (out.backend.empty()) return out;
    return fail(ErrorKind::usage, "--backend is a name within a pool", "--backend",
                "name its pool with --pool POOL");
  }
  const auto pool = pool_of(context.version().site, out.pool);
  if (!pool) return tl::unexpected<Error>(pool.error());
  if (out.backend.empty()) return out;
  if (const auto backend = backend_of(**pool, out.backend); !backend)
    return tl::unexpected<Error>(backend.error());
  return out;
}

// --- One flow ---

json entry_json(Context& context, const FlowEntry& entry, const std::string& pool, bool tcp) {
  const Pool* found = entry.pool == pool ? context.version().site.find_pool(pool) : nullptr;
  const Kept kept = found == nullptr ? Kept{} : kept_by(context, *found, entry.backend);
  return {{"lcore", entry.lcore},
          {"pool", entry.pool},
          {"backend", entry.backend},
          {"state", word_of(entry.phase)},
          {"serves", tcp ? kept.tcp : kept.udp},
          {"quiet_ms", entry.quiet.count()},
          {"left_ms", entry.left.count()}};
}

std::vector<std::string> names_of(const json& hops) {
  std::vector<std::string> out;
  for (const json& hop : hops) out.push_back(hop.at("backend").get<std::string>());
  return out;
}

// The first entry that serves; nullptr where no packet follows any.
const json* serving(const json& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [](const json& entry) { return entry.at("serves").get<bool>(); });
  return found == entries.end() ? nullptr : &*found;
}

// Its backend, then the row's hops without it, as many as the row has.
std::vector<std::string> hops_behind(const std::string& backend, const std::vector<std::string>& row) {
  std::vector<std::string> out{backend};
  for (const std::string& hop : row)
    if (hop != backend && out.size() < row.size()) out.push_back(hop);
  return out;
}

std::string flow_sentence(const json& entries, const std::vector<std::string>& row, bool takes_new) {
  const std::string anew = takes_new ? "goes to " + row.front() : "is dropped: nobody takes new flows";
  if (const json* entry = serving(entries)) {
    const std::string backend = entry->at("backend").get<std::string>();
    return fmt::format("stays with {}; a new flow {}", backend, anew);
  }
  if (!entries.empty()) return "its entry does not count any more, so it is decided anew: a new flow " + anew;
  return "in no table: goes to the row's hops; a new flow " + anew;
}

// --- Purge ---

// Either a flow or a backend.
struct PurgeTarget {
  Chosen chosen;
  std::optional<json> flow;  // as show_flow answers
};

Result<PurgeTarget> target_of(Context& context, const Arguments& arguments) {
  const auto chosen = chosen_by(context, arguments);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  const bool names_flow = arguments.has("PROTOCOL");
  if (names_flow != chosen->backend.empty()) {
    return fail(
        ErrorKind::usage, "a purge is of one flow, or of one backend", {},
        "write `flow purge tcp 198.51.100.7:40000 203.0.113.10:443`, or `flow purge --pool POOL --backend "
        "NAME`");
  }
  if (!names_flow) return PurgeTarget{*chosen, std::nullopt};
  if (!chosen->pool.empty() || !arguments.has("DESTINATION")) {
    return fail(ErrorKind::usage, "a flow is named by protocol, source and destination, and by nothing else",
                {}, "write `flow purge tcp 198.51.100.7:40000 203.0.113.10:443`");
  }
  auto flow = show_flow(context, arguments);
  if (!flow) return tl::unexpected<Error>(flow.error());
  if (flow->at("service").is_null()) {
    return fail(ErrorKind::not_found, "the destination is no service", arguments.at("DESTINATION"),
                "see `guideway service list`");
  }
  return PurgeTarget{*chosen, std::move(*flow)};
}

// What would be removed.
FlowCounts found_for(FlowTables& tables, const PurgeTarget& target) {
  FlowCounts out;
  if (target.flow) {
    for (const json& entry : target.flow->at("entries"))
      for (const FlowPhase phase :
           {FlowPhase::fresh, FlowPhase::established, FlowPhase::closing, FlowPhase::udp})
        if (entry.at("state") == word_of(phase)) ++out.of(phase);
    return out;
  }
  for (const BackendFlows& backend : tables.report().backends)
    if (backend.pool == target.chosen.pool && backend.backend == target.chosen.backend) return backend.flows;
  return out;
}

// What a purge would break; empty where nothing can. A flow that is named is known with its row. Of a backend's flows
// only tags are known, so any that is open may be one whose row leads elsewhere.
std::string breaks_by(Context& context, const PurgeTarget& target, const FlowCounts& found) {
  const Site& site = context.version().site;
  if (target.flow) {
    const json* entry = serving(target.flow->at("entries"));
    if (entry == nullptr || entry->at("state") == "closing") return {};
    const std::string backend = entry->at("backend").get<std::string>();
    const auto row = names_of(target.flow->at("hops"));
    // Without its entry a TCP flow finds its backend among all hops that its packets name; a UDP one goes to the first.
    const bool udp = entry->at("state") == "udp";
    const auto last = udp && !row.empty() ? row.begin() + 1 : row.end();
    if (std::find(row.begin(), last, backend) != last) return {};
    return fmt::format("the flow would leave {}, which is {} of its row", backend,
                       udp ? "not the first hop" : "no hop");
  }
  const Kept kept = kept_by(context, *site.find_pool(target.chosen.pool), target.chosen.backend);
  const std::uint64_t open = (kept.tcp ? found.fresh + found.established : 0) + (kept.udp ? found.udp : 0);
  if (open == 0) return {};
  return fmt::format(
      "{} would be forgotten: what goes on of {} follows its row, and breaks where {} is no hop of it",
      counted(open, "open flow"), open == 1 ? "it" : "them", target.chosen.backend);
}

std::string cells_of(const json& flows) {
  return fmt::format(
      "{} new, {} established, {} closing, {} udp", grouped(flows.at("new").get<std::uint64_t>()),
      grouped(flows.at("established").get<std::uint64_t>()),
      grouped(flows.at("closing").get<std::uint64_t>()), grouped(flows.at("udp").get<std::uint64_t>()));
}

// Less is not known.
std::string span_of(const json& ms) {
  return rough_duration(std::chrono::milliseconds(ms.get<std::int64_t>()));
}

}  // namespace

Result<json> list_flows(Context& context, const Arguments& arguments) {
  const auto chosen = chosen_by(context, arguments);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  const FlowsReport report = context.live()->flow_tables().report();
  json backends = json::array(), workers = json::array();
  for (const BackendFlows& backend : report.backends) {
    if (!chosen->pool.empty() && backend.pool != chosen->pool) continue;
    if (!chosen->backend.empty() && backend.backend != chosen->backend) continue;
    json line = counts_json(backend.flows);
    line["pool"] = backend.pool;
    line["backend"] = backend.backend;
    backends.push_back(std::move(line));
  }
  for (const WorkerFlows& worker : report.workers)
    workers.push_back({{"lcore", worker.lcore}, {"flows", worker.flows}, {"room", worker.room}});
  return json{{"backends", std::move(backends)}, {"gone", report.gone}, {"workers", std::move(workers)}};
}

Result<json> show_flow(Context& context, const Arguments& arguments) {
  auto explained = explain_flow(context, arguments);
  if (!explained) return explained;
  json out{{"epoch", explained->at("epoch")},
           {"flow", explained->at("flow")},
           {"service", explained->at("service")},
           {"entries", json::array()},
           {"verdict", explained->at("verdict")}};
  if (explained->at("service").is_null()) return out;
  for (const char* key : {"pool", "hash", "row", "rows", "hops"}) out[key] = explained->at(key);
  const std::string pool = explained->at("pool").get<std::string>();
  const auto hash = seed_value(explained->at("hash").get_ref<const std::string&>());
  if (!hash) return tl::unexpected<Error>(hash.error());
  const bool tcp = arguments.at("PROTOCOL") == "tcp";
  for (const FlowEntry& entry : context.live()->flow_tables().find(*hash))
    out["entries"].push_back(entry_json(context, entry, pool, tcp));
  const auto row = names_of(explained->at("hops"));
  const json* entry = serving(out["entries"]);
  out["sent_to"] = entry == nullptr ? row : hops_behind(entry->at("backend").get<std::string>(), row);
  out["verdict"] = flow_sentence(out["entries"], row, explained->at("takes_new_flows").get<bool>());
  return out;
}

Result<json> purge_flows(Context& context, const Arguments& arguments) {
  if (auto fresh = check_epoch(context.version(), commit_options(arguments)); !fresh)
    return tl::unexpected<Error>(fresh.error());
  const auto target = target_of(context, arguments);
  if (!target) return tl::unexpected<Error>(target.error());
  FlowTables& tables = context.live()->flow_tables();
  const FlowCounts found = found_for(tables, *target);
  const std::string breaks = breaks_by(context, *target, found);
  json out{{"command", "flow purge"},
           {"result", arguments.dry_run ? "planned" : "done"},
           {"epoch", static_cast<std::uint64_t>(context.version().epoch)},
           {"pool", target->flow ? target->flow->at("pool") : json(target->chosen.pool)},
           {"backend", target->flow ? json(nullptr) : json(target->chosen.backend)},
           {"flow", target->flow ? target->flow->at("flow") : json(nullptr)},
           {"found", counts_json(found)},
           {"removed", 0},
           {"needs_force", !breaks.empty()},
           {"breaks", breaks.empty() ? json::array() : json::array({breaks})}};
  if (arguments.dry_run) return out;
  if (!breaks.empty() && !arguments.force) {
    return fail(ErrorKind::refused, breaks, "pool " + out["pool"].get<std::string>(),
                "let them end (`backend drain`), or do it with --force");
  }
  const auto removed = target->flow
                           ? tables.purge(*seed_value(target->flow->at("hash").get_ref<const std::string&>()))
                           : tables.purge(target->chosen.pool, target->chosen.backend);
  if (!removed) return tl::unexpected<Error>(removed.error());
  out["removed"] = *removed;
  return out;
}

std::string render_flows(const json& answer, bool color) {
  TextTable backends({"POOL", "BACKEND", "NEW", "ESTABLISHED", "CLOSING", "UDP", "ALL"});
  for (const json& line : answer.at("backends")) {
    std::vector<Cell> cells{line.at("pool").get<std::string>(), line.at("backend").get<std::string>()};
    for (const char* key : {"new", "established", "closing", "udp", "all"})
      cells.emplace_back(line.at(key).get<std::uint64_t>());
    backends.add(std::move(cells));
  }
  std::string out = backends.empty() ? "no backends, so no flows\n" : backends.text(color);
  if (const auto gone = answer.at("gone").get<std::uint64_t>(); gone > 0)
    out += counted(gone, "flow") + " of backends that left; no packet follows their entries\n";
  TextTable workers({"LCORE", "FLOWS", "ROOM"});
  for (const json& worker : answer.at("workers"))
    workers.add({worker.at("lcore").get<std::uint64_t>(), worker.at("flows").get<std::uint64_t>(),
                 worker.at("room").get<std::uint64_t>()});
  return out + "\n" + (workers.empty() ? "no workers\n" : workers.text(color));
}

std::string render_flow(const json& answer, bool color) {
  TextList list;
  const json& flow = answer.at("flow");
  list.add("flow",
           fmt::format("{} {} -> {}", flow.at("protocol").get<std::string>(),
                       flow.at("source").get<std::string>(), flow.at("destination").get<std::string>()));
  if (!answer.at("service").is_null()) {
    list.add("service", fmt::format("{} (pool {})", answer.at("service").get<std::string>(),
                                    answer.at("pool").get<std::string>()));
    list.add("hash", answer.at("hash").get<std::string>());
    list.add("row", fmt::format("{} of {}: {}", grouped(answer.at("row").get<std::uint64_t>()),
                                grouped(answer.at("rows").get<std::uint64_t>()),
                                fmt::join(names_of(answer.at("hops")), ", ")));
    for (const json& entry : answer.at("entries")) {
      const std::string backend = entry.at("backend").get<std::string>();
      list.add("entry", fmt::format("{}, {}, lcore {}, quiet for {}, ends in {}{}",
                                    backend.empty() ? "a backend that left" : backend,
                                    entry.at("state").get<std::string>(), entry.at("lcore").get<unsigned>(),
                                    span_of(entry.at("quiet_ms")), span_of(entry.at("left_ms")),
                                    entry.at("serves").get<bool>() ? "" : "; no packet follows it"));
    }
    if (answer.at("entries").empty()) list.add("entry", "none");
    list.add("sent to",
             fmt::format("{}", fmt::join(answer.at("sent_to").get<std::vector<std::string>>(), ", ")));
  }
  list.add("verdict", answer.at("verdict").get<std::string>());
  return list.text(color);
}

std::string render_purge(const json& answer, bool color) {
  const auto all = answer.at("found").at("all").get<std::uint64_t>();
  const std::string what = answer.at("flow").is_null()
                               ? fmt::format("{} of pool {}", answer.at("backend").get<std::string>(),
                                             answer.at("pool").get<std::string>())
                               : "the flow";
  std::string out;
  if (answer.at("result") == "planned") {
    out = all == 0 ? fmt::format("{}: in no table, nothing to remove\n", what)
                   : fmt::format("{}: {} would be removed ({})\n", what, counted(all, "flow"),
                                 cells_of(answer.at("found")));
    for (const json& sentence : answer.at("breaks"))
      out += toned("needs --force: ", Tone::warn, color) + sentence.get<std::string>() + "\n";
    return out;
  }
  return fmt::format("{}: {} removed\n", what, counted(answer.at("removed").get<std::uint64_t>(), "flow"));
}

}  // namespace guideway
