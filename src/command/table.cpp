#include "command/table.h"

#include <array>
#include <nlohmann/json.hpp>

#include "command/backend_commands.h"
#include "command/change_answer.h"
#include "command/check.h"
#include "command/compare_commands.h"
#include "command/explain.h"
#include "command/flow_commands.h"
#include "command/health_commands.h"
#include "command/movement_command.h"
#include "command/pool_commands.h"
#include "command/service_commands.h"
#include "command/simulate_command.h"
#include "command/site_commands.h"
#include "command/status_commands.h"
#include "command/table_commands.h"
#include "command/vectors_command.h"

namespace guideway {
namespace {

const Parameter pool_name{"POOL", Kind::pool, {}, "the pool"};
const Parameter some_pool{"POOL", Kind::pool, {}, "the pool; all of them when left out", true};
const Parameter backend_name{"NAME", Kind::backend, {}, "the backend"};
const Parameter service_name{"SERVICE", Kind::service, {}, "the service"};

std::vector<Command> service_verbs() {
  return {
      {"service",
       "list",
       {},
       {},
       "list the services",
       Effect::read,
       Reach::any,
       true,
       "services",
       list_services,
       render_services},
      {"service",
       "show",
       {service_name},
       {},
       "show one service and its traffic",
       Effect::read,
       Reach::any,
       false,
       "services/SERVICE",
       show_service,
       render_service},
      {"service",
       "add",
       {{"NAME", Kind::new_name, {}, "what it shall be called"},
        {"ADDRESS", Kind::prefix, {}, "its address, or a prefix of them"},
        {"POOL", Kind::pool, {}, "who serves it"}},
       {{"protocol", Kind::word, "tcp|udp", "tcp when left out"},
        {"ports", Kind::ports, "PORTS", "80,443,8000-8099 or any (when left out)"},
        {"unmatched", Kind::word, "kernel|drop", "what becomes of its other ports and protocols"},
        {"ping", Kind::word, "answer|forward|kernel", "who answers echo requests to it"}},
       "add a service",
       Effect::change,
       Reach::any,
       false,
       {},
       add_service,
       render_change},
      {"service",
       "remove",
       {service_name},
       {},
       "remove a service",
       Effect::change,
       Reach::any,
       false,
       {},
       remove_service,
       render_change},
  };
}

std::vector<Command> pool_verbs() {
  return {
      {"pool",
       "list",
       {},
       {},
       "list the pools",
       Effect::read,
       Reach::any,
       true,
       "pools",
       list_pools,
       render_pools},
      {"pool",
       "show",
       {pool_name},
       {},
       "show one pool, its settings and its backends",
       Effect::read,
       Reach::any,
       false,
       "pools/POOL",
       show_pool,
       render_pool},
      {"pool",
       "add",
       {{"NAME", Kind::new_name, {}, "what it shall be called"}},
       {{"encapsulation", Kind::word, "gue|ipip|gre|l2", "how packets are wrapped; gue when left out"},
        {"rows", Kind::number, "M", "size of the table, a prime from 251 to 5000011; 65537 when left out"},
        {"hops", Kind::number, "N", "backends a packet may be sent to, 1 to 3; 3 when left out"},
        {"affinity", Kind::word, "flow|client", "what picks the row; flow when left out"},
        {"deal", Kind::word, "stable|scratch",
         "how seats are dealt when members change; stable when left out"},
        {"seed", Kind::seed, "SEED", "the hash's seed; the site's when left out"},
        {"tos", Kind::word, "copy|zero", "DSCP and ECN of the outer header; copy when left out"},
        {"udp-checksum", Kind::word, "on|off",
         "whether GUE's outer UDP checksum is computed; off when left out"},
        {"flow-table", Kind::word, "on|off", "whether the director remembers flows; on when left out"},
        {"none-healthy", Kind::word, "all|drop",
         "who takes new flows when nobody is healthy; all when left out"},
        {"on-down", Kind::word, "keep|move",
         "what becomes of TCP flows on a backend that is down; keep when left out"},
        {"health", Kind::check, "CHECK", "tcp:80, http:8080/healthz or none (when left out)"}},
       "add a pool without backends",
       Effect::change,
       Reach::any,
       false,
       {},
       add_pool,
       render_change,
       "What has no option here is set in the site's file and applied with `guideway apply FILE`."},
      {"pool",
       "remove",
       {pool_name},
       {},
       "remove a pool that no service uses",
       Effect::change,
       Reach::any,
       false,
       {},
       remove_pool,
       render_change},
  };
}

// A verb that only names a backend.
Command backend_verb(std::string_view verb, std::string_view help, Handler handler,
                     std::string_view details = {}) {
  return {"backend",  verb,          {pool_name, backend_name},
          {},         help,          Effect::change,
          Reach::any, false,         {},
          handler,    render_change, details};
}

std::vector<Command> backend_verbs() {
  Command drain =
      backend_verb("drain", "send it no new flows, let the old ones go on", drain_backend,
                   "The seats of the backend are kept: `undrain` brings its rows back as they were.");
  drain.options = {
      {"wait", Kind::flag, {}, "come back when it is known that its last flow has ended"},
      {"timeout", Kind::duration, "T", "with --wait: give up after T (exit code 4); the drain stays"}};
  return {
      {"backend",
       "list",
       {some_pool},
       {},
       "list backends with weight, state, health and share",
       Effect::read,
       Reach::any,
       true,
       "backends",
       list_backends,
       render_backends},
      {"backend",
       "add",
       {pool_name,
        {"NAME", Kind::new_name, {}, "what it shall be called"},
        {"ADDRESS", Kind::address, {}, "where packets are sent"}},
       {{"weight", Kind::weight, "N", "1 to 65535, 100 when left out"},
        {"state", Kind::word, "active|draining|disabled", "active when left out"}},
       "add a backend to a pool",
       Effect::change,
       Reach::any,
       false,
       {},
       add_backend,
       render_change},
      drain,
      backend_verb("undrain", "let it take new flows again", undrain_backend),
      backend_verb("disable", "stop at once: it gets nothing any more", disable_backend,
                   "Its flows break. The seats are kept: `enable` brings its rows back as they were."),
      backend_verb("enable", "let it serve again after disable", enable_backend),
      backend_verb("remove", "take it out of the pool; its seats are dealt to the others", remove_backend,
                   "Drain it first: while it may still have live flows, --force is asked for."),
      {"backend",
       "weight",
       {pool_name, backend_name, {"WEIGHT", Kind::weight, {}, "1 to 65535"}},
       {},
       "change its weight",
       Effect::change,
       Reach::any,
       false,
       {},
       weigh_backend,
       render_change},
  };
}

std::vector<Command> site_verbs() {
  return {
      {"plan",
       "",
       {{"COMMAND…", Kind::command, {}, "a command that changes the site"}},
       {},
       "what a change would move, before it is done",
       Effect::read,
       Reach::any,
       false,
       {},
       nullptr,
       nullptr,
       "As in `guideway plan backend remove web web-1`. Nothing is changed."},
      {"apply",
       "",
       {{"FILE",
         Kind::file,
         {},
         "the new site: TOML, or an export with its seatings; - for the standard input"}},
       {},
       "replace the site by the one in a file",
       Effect::change,
       Reach::any,
       false,
       {},
       apply_site,
       render_change,
       "All differences are one change: one deal, one epoch. Look first with `guideway plan apply FILE`."},
      {"undo",
       "",
       {},
       {},
       "go back to the version before, with its seats",
       Effect::change,
       Reach::any,
       false,
       {},
       undo_change,
       render_change,
       "One version is kept: `undo` again brings back what was undone. One that is refused, since it would "
       "cut "
       "a backend off, is done in steps: drain the backend, then `guideway backend remove`; after the drain, "
       "`undo` would undo the drain."},
      {"site",
       "export",
       {},
       {},
       "print the site as TOML; with --json also its seatings",
       Effect::read,
       Reach::any,
       false,
       "site",
       export_site,
       render_export},
      {"check",
       "",
       {{"FILE", Kind::file, {}, "a site or a director file; - for the standard input"}},
       {},
       "check a file without a daemon",
       Effect::read,
       Reach::local,
       false,
       {},
       check_file,
       render_check,
       "With --director FILE a site is also checked against that director's source addresses."},
  };
}

std::vector<Command> view_verbs() {
  return {
      {"status",
       "",
       {},
       {},
       "the director at a glance",
       Effect::read,
       Reach::daemon,
       false,
       "status",
       show_status,
       render_status},
      {"stats",
       "",
       {},
       {},
       "counters by verdict, service, backend and worker",
       Effect::read,
       Reach::daemon,
       false,
       "stats",
       show_stats,
       render_stats},
      {"explain",
       "",
       {{"PROTOCOL", Kind::word, "tcp|udp", "tcp or udp"},
        {"SOURCE", Kind::endpoint, {}, "the client, as 198.51.100.7:40000 or [2001:db8::7]:40000"},
        {"DESTINATION", Kind::endpoint, {}, "the service address and port"}},
       {},
       "where a flow goes, and why",
       Effect::read,
       Reach::any,
       false,
       {},
       explain_flow,
       render_explanation,
       "As in `guideway explain tcp 198.51.100.7:40000 203.0.113.10:443`."},
      {"table",
       "show",
       {pool_name},
       {},
       "print a pool's rows with their hops",
       Effect::read,
       Reach::any,
       false,
       "tables/POOL",
       show_table,
       render_table},
      {"table",
       "digest",
       {some_pool},
       {},
       "digests to compare directors by",
       Effect::read,
       Reach::any,
       false,
       "digests",
       digest_table,
       render_digests,
       "ROWS DIGEST: the rows as they are, with this director's health view. SITE DIGEST: the rows with "
       "every backend "
       "up; the same on every director of the site."},
      {"table",
       "diff",
       {pool_name,
        {"FILE",
         Kind::file,
         {},
         "from `table show POOL --json` elsewhere; every backend up when left out",
         true}},
       {},
       "rows that differ from another director's, or from those with every backend up",
       Effect::read,
       Reach::any,
       false,
       {},
       diff_table,
       render_diff},
  };
}

std::vector<Command> placement_verbs() {
  return {
      {"table",
       "compare",
       {},
       {{"backends", Kind::number, "N", "how many, of weight 100; 10 when left out"},
        {"weights", Kind::text, "W,W,...", "their weights, in turn"},
        {"keys", Kind::number, "K", "keys to place; 100000 when left out"},
        {"change", Kind::text, "CHANGE",
         "add, remove:NAME or weight:NAME=W; the last one goes when left out"},
        {"algorithm", Kind::text, "NAME,...", "only these"},
        {"rows", Kind::number, "M", "rows of dealt tables, a prime; 65537 when left out"},
        {"seed", Kind::seed, "SEED", "the hash's seed; 0 when left out"},
        {"plot", Kind::file, "FILE", "draw shares and movement as SVG; only replaces an older plot"},
        {"lesson", Kind::text, "NAME",
         "a published observation worked out anew, instead; `list` names them"}},
       "placement algorithms side by side: shares, what a change moves, cost",
       Effect::read,
       Reach::client,
       false,
       {},
       compare_algorithms,
       render_comparison,
       "Backends are called b01, b02 and so on, in as many digits as the last one needs; one that comes "
       "follows "
       "it."},
      {"table",
       "vectors",
       {{"KIND", Kind::word, "deal|flow|log2|ranking|rows", "one file; all when left out", true}},
       {},
       "golden vectors of the routing contract, as this program answers them",
       Effect::read,
       Reach::client,
       false,
       {},
       answer_vectors,
       render_vectors,
       "Compare the output with the file of the same name in tests/vectors, or with another implementation."},
      {"table",
       "movement",
       {},
       {{"backends", Kind::number, "N", "how many, 4 to 1000; 100 when left out"},
        {"weights", Kind::text, "W,W,...", "their weights, in turn; 100 when left out"},
        {"changes", Kind::number, "K", "how many; 1000 when left out"},
        {"rows", Kind::number, "M", "rows of the table, a prime; 65537 when left out"},
        {"seed", Kind::seed, "SEED", "of the changes and of the rows; 1 when left out"}},
       "which rows each kind of change moves, and which of them needlessly, by rule",
       Effect::read,
       Reach::client,
       false,
       {},
       answer_movement,
       render_movement,
       "Plays one random history for each rule: drains, failures, members that come and go, weights. A "
       "thousand "
       "changes of 468 backends take about a minute."},
  };
}

std::vector<Command> health_verbs() {
  return {
      {"health",
       "list",
       {},
       {},
       "what the health checks say",
       Effect::read,
       Reach::daemon,
       true,
       "health",
       list_health,
       render_health},
      {"health",
       "set",
       {pool_name,
        backend_name,
        {"VALUE", Kind::word, "up|down|auto", "up or down by hand; auto: its checks decide"}},
       {},
       "overrule the health checks of a backend until guidewayd restarts",
       Effect::change,
       Reach::daemon,
       false,
       {},
       set_health,
       render_health_set,
       {},
       false},
  };
}

std::vector<Command> flow_verbs() {
  const std::vector<Parameter> one_backend{{"pool", Kind::pool, "POOL", "of this pool"},
                                           {"backend", Kind::backend, "NAME", "of this backend of the pool"}};
  const auto tuple = [](bool optional) {
    return std::vector<Parameter>{
        {"PROTOCOL", Kind::word, "tcp|udp", "tcp or udp", optional},
        {"SOURCE", Kind::endpoint, {}, "the client, as 198.51.100.7:40000 or [2001:db8::7]:40000", optional},
        {"DESTINATION", Kind::endpoint, {}, "the service address and port", optional}};
  };
  return {
      {"flow",
       "list",
       {},
       one_backend,
       "count the flows in the flow tables, by backend and state",
       Effect::read,
       Reach::daemon,
       true,
       "flows",
       list_flows,
       render_flows,
       "A table holds a tag of each flow's hash and its backend, no addresses: flows can be counted, and "
       "found by `flow show`."},
      {"flow",
       "show",
       tuple(false),
       {},
       "what the flow tables know of one flow, and where its packets go",
       Effect::read,
       Reach::daemon,
       false,
       {},
       show_flow,
       render_flow,
       "As in `guideway flow show tcp 198.51.100.7:40000 203.0.113.10:443`. Since when a flow has been "
       "there is not kept; for how long it has been quiet is known to within a second."},
      {"flow",
       "purge",
       tuple(true),
       one_backend,
       "forget one flow, or all flows of a backend",
       Effect::change,
       Reach::daemon,
       false,
       {},
       purge_flows,
       render_purge,
       "As in `guideway flow purge --pool web --backend web-1`, or with a flow as `flow show` takes it. "
       "The next packet of a forgotten TCP flow goes to the hops of its row, the next one of UDP is "
       "decided anew; --force is asked for where that may lead elsewhere. To end a backend's service, "
       "`backend drain` or `backend disable` it."},
  };
}

std::vector<Command> simulation_verbs() {
  return {
      {"simulate",
       "",
       {},
       {{"backends", Kind::number, "N", "size of the pool, 4 to 1000; 100 when left out"},
        {"scenario", Kind::word, "churn|several|drains|rolling|flaps", "only this one"},
        {"rule", Kind::text, "NAME,...", "only these: rebuild, glb, scratch, stable, two-formers"},
        {"rows", Kind::number, "M", "rows of the table, a prime; 65537 when left out"},
        {"steps", Kind::number, "N", "changes that count, behind 20 that do not; 40 when left out"},
        {"seed", Kind::seed, "SEED", "of the changes and of the rows; 1 when left out"}},
       "how many connections break while a pool changes, by rule",
       Effect::read,
       Reach::client,
       false,
       {},
       simulate_rules,
       render_simulation,
       "A model without packets: this rule with one, two and three hops beside Maglev dealt anew and GLB's "
       "rule. All scenarios together take about a minute."},
  };
}

std::vector<Command> build() {
  std::vector<Command> out;
  for (auto group : {view_verbs, placement_verbs, flow_verbs, health_verbs, service_verbs, pool_verbs,
                     backend_verbs, site_verbs, simulation_verbs}) {
    for (Command& command : group()) out.push_back(std::move(command));
  }
  return out;
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> table = build();
  return table;
}

std::span<const Parameter> change_options() {
  static constexpr std::array options{
      Parameter{"dry-run", Kind::flag, {}, "only say what it would move, as plan does"},
      Parameter{"force", Kind::flag, {}, "do it although live flows may break"},
      Parameter{"expect-epoch", Kind::number, "N", "refuse unless the site is at epoch N"}};
  return options;
}

std::span<const Parameter> change_options(const Command& command) {
  if (command.effect == Effect::read) return {};
  return command.plans ? change_options()
                       : change_options().last(1);  // what is no change of the site has an epoch
}

std::span<const Parameter> program_options() {
  static constexpr std::array options{
      Parameter{"json", Kind::flag, {}, "answer as JSON"},
      Parameter{"socket", Kind::file, "PATH", "the daemon's socket; /run/guideway/api.sock when left out"},
      Parameter{"site", Kind::file, "FILE", "work on this site file, without a daemon"},
      Parameter{"director", Kind::file, "FILE", "with --site and check: the director's own file"},
      Parameter{"help", Kind::flag, {}, "show help on the program or on a command"},
      Parameter{"version", Kind::flag, {}, "show the version"}};
  return options;
}

const Command* find_command(std::string_view object, std::string_view verb) {
  for (const Command& command : commands()) {
    if (command.object == object && command.verb == verb) return &command;
  }
  return nullptr;
}

}  // namespace guideway
