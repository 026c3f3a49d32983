// Control fixture: a controller with everything around it that a director has, short of packets.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../command/fake_director.h"
#include "control/controller.h"

namespace guideway {

// Keeps what was published, as io's publisher does for the workers.
class FakePublisher final : public Publisher {
 public:
  void publish(std::shared_ptr<const Snapshot> snapshot) override {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(snapshot);
    ++count_;
  }
  [[nodiscard]] std::shared_ptr<const Snapshot> newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }
  [[nodiscard]] int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> newest_;
  int count_ = 0;
};

// Live's health may be changed while the controller's thread asks for it.
class FakeHealth final : public Live {
 public:
  FakeFlowTables tables;
  StatsReport stats() override { return {}; }
  std::vector<HealthReport> health() override { return {}; }
  Result<void> set_health(const std::string& pool, const std::string& backend,
                          std::optional<Health> value) override {
    const std::lock_guard lock(mutex_);
    view_[pool][backend] = value.value_or(Health::unknown);
    return {};
  }
  std::vector<PortReport> ports() override { return {}; }
  std::vector<NextHopReport> next_hops() override { return {}; }
  SharedHealthView health_view() override {
    const std::lock_guard lock(mutex_);
    return std::make_shared<const HealthView>(view_);
  }
  FlowsLeft flows_left(const std::string&, const std::string&) override {
    on_flows_left();
    return {flows, 0, {}};
  }
  std::optional<UnseenFlows> unseen_flows(const std::string&, const std::string&) override { return {}; }
  FlowTables& flow_tables() override { return tables; }
  std::chrono::seconds uptime() override { return {}; }
  MemoryReport memory() override {
    on_memory();
    return {};
  }

  std::atomic<std::uint64_t> flows{0};
  std::function<void()> on_memory = [] {};      // in the midst of `status`
  std::function<void()> on_flows_left = [] {};  // in the midst of a plan that takes a draining backend out

 private:
  std::mutex mutex_;
  HealthView view_;
};

struct ControlledDirector {
  explicit ControlledDirector(Site site = small_site(),
                              OuterSources sources = {ip("192.0.2.1"), ip("2001:db8::1")},
                              std::optional<Journal> journal = std::nullopt)
      : builder(sources, next_hops),
        controller(*Store::open(std::move(journal), std::move(site)),
                   DirectorConfig{.source_ipv4 = sources.ipv4, .source_ipv6 = sources.ipv6}, builder,
                   publisher) {
    controller.set_live(live);
  }
  Result<nlohmann::json> operator()(const std::string& line, const std::string& input = {}) {
    auto arguments = parse_command(*split_words(line));
    if (!arguments) return tl::unexpected<Error>(arguments.error());
    arguments->input = input;
    return controller.run(*arguments);
  }

  NextHops next_hops;
  SnapshotBuilder builder;
  FakePublisher publisher;
  FakeHealth live;
  Controller controller;
};

}  // namespace guideway
