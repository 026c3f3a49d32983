// Fake director: a context over a store in memory, with a live side that answers what a test has put there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command/context.h"
#include "command/parser.h"
#include "command/run.h"
#include "fake_flow_tables.h"

namespace guideway {

inline IpAddress ip(const std::string& text) { return *IpAddress::parse(text); }

// Pool "web" (1,009 rows) of web-1 to web-3 behind service "www"; an empty pool "spare".
inline Site small_site() {
  Site site;
  site.hash_seed = 0x5eed;
  Pool web;
  web.name = "web";
  web.rows = 1009;
  for (int i = 1; i <= 3; ++i) {
    web.backends.push_back({"web-" + std::to_string(i), ip("10.0.1." + std::to_string(10 + i))});
  }
  Pool spare;
  spare.name = "spare";
  spare.rows = 251;
  site.pools = {web, spare};
  Service www;
  www.name = "www";
  www.address = ip("203.0.113.10");
  www.ports = {{80, 80}, {443, 443}};
  www.pool = "web";
  site.services = {www};
  return site;
}

class FakeLive final : public Live {
 public:
  FakeFlowTables tables;
  StatsReport report;
  std::vector<PortReport> port_reports;
  std::vector<NextHopReport> next_hop_reports;
  std::map<std::string, Health> overrides;  // by backend, of pool web
  std::map<std::string, FlowsLeft> flows;   // by backend

  StatsReport stats() override { return report; }
  std::vector<HealthReport> health() override {
    std::vector<HealthReport> out;
    for (const auto& [backend, value] : overrides)
      out.push_back({"web", backend, value, value, Health::unknown, "refused"});
    return out;
  }
  Result<void> set_health(const std::string&, const std::string& backend,
                          std::optional<Health> value) override {
    if (value) {
      overrides[backend] = *value;
    } else {
      overrides.erase(backend);
    }
    return {};
  }
  std::vector<PortReport> ports() override { return port_reports; }
  std::vector<NextHopReport> next_hops() override { return next_hop_reports; }
  SharedHealthView health_view() override {
    HealthView view;
    for (const auto& [backend, value] : overrides) view["web"][backend] = value;
    return std::make_shared<const HealthView>(std::move(view));
  }
  FlowsLeft flows_left(const std::string&, const std::string& backend) override { return flows[backend]; }
  FlowTables& flow_tables() override { return tables; }
  std::optional<UnseenFlows> unseen_flows(const std::string&, const std::string& backend) override {
    return flows[backend].unseen;
  }
  std::chrono::seconds up{4000};
  std::chrono::seconds uptime() override { return up; }
  MemoryReport used{64 << 20, 1 << 20, 16 << 20, 1009 + 251, (1009 + 251) * sizeof(Row)};
  MemoryReport memory() override { return used; }
};

class FakeDirector final : public Context {
 public:
  explicit FakeDirector(Site site = small_site()) : store(*Store::open(std::nullopt, std::move(site))) {
    config.source_ipv4 = ip("192.0.2.1");
    config.source_ipv6 = ip("2001:db8::1");
  }
  const SiteVersion& version() override { return store.current(); }
  const HealthView& health() override { return health_ = *live_side.health_view(); }
  RecentRows& recent_rows() override { return *store.recent_rows(); }
  const DirectorConfig& director() override { return config; }
  Result<Plan> plan(const Change& change) override {
    return store.plan(change, health(), live_flows(live()));
  }
  Result<Plan> plan_undo() override { return store.plan_undo(health(), live_flows(live())); }
  Result<Plan> commit(const Change& change, const CommitOptions& options) override {
    return store.commit(change, health(), options, live_flows(live()));
  }
  Result<Plan> undo(const CommitOptions& options) override {
    return store.undo(health(), options, live_flows(live()));
  }
  Live* live() override { return alive ? &live_side : nullptr; }

  // A command as it is typed.
  Result<nlohmann::json> operator()(const std::string& line, const std::string& input = {}) {
    const auto words = split_words(line);
    if (!words) return tl::unexpected<Error>(words.error());
    auto arguments = parse_command(*words);
    if (!arguments) return tl::unexpected<Error>(arguments.error());
    arguments->input = input;
    return run_command(*this, *arguments);
  }

  Store store;
  DirectorConfig config;
  FakeLive live_side;
  bool alive = true;

 private:
  HealthView health_;
};

// As a person reads it, without colours.
inline std::string text_of(const std::string& line, const nlohmann::json& answer) {
  return parse_command(*split_words(line))->command->renderer(answer, false);
}

}  // namespace guideway
