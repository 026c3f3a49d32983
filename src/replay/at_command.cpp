#include "replay/at_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/context.h"
#include "command/parser.h"
#include "command/run.h"
#include "state/site_file.h"

namespace guideway {
namespace {

// A replay has a site and health verdicts by hand, and no other part of a live director. Commands see it as an
// offline context whose commits are published.
class ReplayContext final : public Context {
 public:
  ReplayContext(ReplayDirector& director, std::chrono::milliseconds now) : director_(director), now_(now) {}

  const SiteVersion& version() override { return director_.store().current(); }
  const HealthView& health() override { return director_.health(); }
  RecentRows& recent_rows() override { return *director_.store().recent_rows(); }
  const DirectorConfig& director() override { return director_.config(); }
  Result<Plan> plan(const Change& change) override {
    return director_.store().plan(change, health(), flows());
  }
  Result<Plan> commit(const Change& change, const CommitOptions& options) override {
    return published(director_.store().commit(change, health(), options, flows()));
  }
  Result<Plan> plan_undo() override { return director_.store().plan_undo(health(), flows()); }
  Result<Plan> undo(const CommitOptions& options) override {
    return published(director_.store().undo(health(), options, flows()));
  }
  Live* live() override { return nullptr; }

 private:
  // A capture has no other directors. A time before it has only where connections show that they began then.
  LiveFlows flows() {
    return {[this](const std::string& pool, const std::string& backend) {
              return director_.open_flows(pool, backend, now_);
            },
            std::chrono::milliseconds::max()};
  }
  Result<Plan> published(Result<Plan> plan) {
    if (!plan || plan->no_op) return plan;
    if (auto done = director_.publish(now_); !done) return tl::unexpected(done.error());
    return plan;
  }

  ReplayDirector& director_;
  std::chrono::milliseconds now_;
};

// The parser lets no other word through.
std::optional<Health> health_of(std::string_view word) {
  if (word == "auto") return std::nullopt;
  return word == "down" ? Health::down : Health::up;
}

// Commands read no files; whoever was asked has read them.
Result<void> read_input(Arguments& arguments) {
  for (const Parameter& parameter : arguments.command->positionals) {
    if (parameter.kind != Kind::file) continue;
    const std::string& path = arguments.at(parameter.name);
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return fail(ErrorKind::invalid, "cannot be read", path, "name a file that is there");
    arguments.input = std::move(text).str();
  }
  return {};
}

// `health set POOL NAME up|down|auto`: what a health check would have found.
Result<void> set_health(ReplayDirector& director, const Arguments& arguments, std::chrono::milliseconds now) {
  const std::string& pool_name = arguments.at("POOL");
  const std::string& backend_name = arguments.at("NAME");
  const Pool* pool = director.store().current().site.find_pool(pool_name);
  if (pool == nullptr) return fail(ErrorKind::not_found, fmt::format("there is no pool {}", pool_name));
  if (std::ranges::find(pool->backends, backend_name, &Backend::name) == pool->backends.end())
    return fail(ErrorKind::not_found, fmt::format("pool {} has no backend {}", pool_name, backend_name));
  director.set_health(pool_name, backend_name, health_of(arguments.at("VALUE")));
  return director.publish(now);
}

}  // namespace

Result<void> run_at(ReplayDirector& director, const std::string& line, std::chrono::milliseconds now) {
  const auto words = split_words(line);
  if (!words) return tl::unexpected(words.error());
  auto arguments = parse_command(*words);
  if (!arguments) return tl::unexpected(arguments.error());
  const Command& command = *arguments->command;
  if (command.object == "health" && command.verb == "set") return set_health(director, *arguments, now);
  if (command.effect != Effect::change || arguments->dry_run)
    return fail(ErrorKind::usage, fmt::format("`{}` changes nothing", command.name()), {},
                "--at takes commands that change the site, and `health set`");
  if (auto read = read_input(*arguments); !read) return read;
  ReplayContext context(director, now);
  const auto answer = run_command(context, *arguments);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

}  // namespace guideway
