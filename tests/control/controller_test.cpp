// The controller: a change is whole or not at all, and what is answered is what the workers have.
#include "control/controller.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "../state/scratch_directory.h"
#include "command/values.h"
#include "control_fixture.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// Rows whose new flows the backend takes, in what the workers have.
std::size_t first_rows(const Snapshot& snapshot, const std::string& address) {
  for (const auto& pool : snapshot.pools) {
    if (pool->name != "web") continue;
    return static_cast<std::size_t>(std::count_if(pool->rows.begin(), pool->rows.end(), [&](const Row& row) {
      return row.takes_new != 0 && pool->backends[row.hop[0]].address.text() == address;
    }));
  }
  return 0;
}

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(Controller, StartPublishesTheStoresVersion) {
  ControlledDirector director;
  int told = 0;
  director.controller.add_listener([&](const auto& version, const auto& snapshot) {
    ++told;
    EXPECT_EQ(snapshot->epoch, Epoch{1});
    EXPECT_EQ(version->epoch, Epoch{1});
    EXPECT_EQ(director.publisher.count(), 0) << "listeners come before the workers";
  });
  ASSERT_TRUE(director.controller.start());
  EXPECT_EQ(told, 1);
  ASSERT_NE(director.publisher.newest(), nullptr);
  EXPECT_EQ(director.publisher.newest()->epoch, Epoch{1});
}

TEST(Controller, AChangeIsPublishedWhenItIsAnswered) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  EXPECT_GT(first_rows(*director.publisher.newest(), "10.0.1.11"), 300U);
  const auto answer = director("backend drain web web-1");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(director.publisher.newest()->epoch, Epoch{2});
  EXPECT_EQ(first_rows(*director.publisher.newest(), "10.0.1.11"), 0U);
  const int published = director.publisher.count();
  ASSERT_TRUE(director("backend drain web web-1"));
  ASSERT_TRUE(director("plan backend undrain web web-1"));
  ASSERT_TRUE(director("table show web"));
  EXPECT_FALSE(director("backend drain web nosuch"));
  EXPECT_EQ(director.publisher.count(), published) << "nothing changed, nothing is published";
}

TEST(Controller, AHostsRefusalLeavesEverythingAsItWas) {
  const ScratchDirectory scratch;
  ControlledDirector director(small_site(), {ip("192.0.2.1"), ip("2001:db8::1")},
                              *Journal::open(scratch.path()));
  director.controller.add_check([](const Site& site, const Site&) -> Result<void> {
    if (site.services.size() < 2) return {};
    return fail(ErrorKind::refused, "203.0.113.9 is this host's own", "service more", "use another address");
  });
  ASSERT_TRUE(director.controller.start());
  const int published = director.publisher.count();
  const auto refused = director("service add more 203.0.113.9 web");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "203.0.113.9 is this host's own");
  EXPECT_EQ((*director("service list"))["services"].size(), 1U);
  EXPECT_EQ(director.publisher.count(), published);
}

TEST(Controller, ABuildThatFailsIsNotJournalled) {
  const ScratchDirectory scratch;
  {
    // No IPv6 source: a pool of IPv6 backends cannot be served here.
    ControlledDirector director(small_site(), {ip("192.0.2.1"), std::nullopt},
                                *Journal::open(scratch.path()));
    ASSERT_TRUE(director.controller.start());
    const auto refused = director("backend add spare s-1 fd00::1");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("source_ipv6"), std::string::npos) << refused.error().text();
    EXPECT_EQ(director.publisher.newest()->epoch, Epoch{1});
    ASSERT_TRUE(director("backend drain web web-1"));
    EXPECT_EQ(director.publisher.newest()->epoch, Epoch{2});
  }
  const auto stored = Journal::open(scratch.path())->load();
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->epoch, Epoch{2});
  EXPECT_TRUE((*stored)->site.find_pool("spare")->backends.empty());
}

TEST(Controller, AJournalThatFailsIsNotPublished) {
  const ScratchDirectory scratch;
  const auto state = scratch.path() / "state";
  ControlledDirector director(small_site(), {ip("192.0.2.1"), ip("2001:db8::1")}, *Journal::open(state));
  ASSERT_TRUE(director.controller.start());
  std::filesystem::remove_all(state);
  const auto refused = director("backend drain web web-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(director.publisher.newest()->epoch, Epoch{1});
  EXPECT_EQ((*director("backend list web"))["backends"][0]["state"], "active");
}

// What the log has when the director that `work` is given has ended.
template <class Work>
std::string logged(Work work, std::optional<Journal> journal = std::nullopt) {
  std::ostringstream out;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  spdlog::set_pattern("%l: %v");
  {
    ControlledDirector director(small_site(), {ip("192.0.2.1"), ip("2001:db8::1")}, std::move(journal));
    EXPECT_TRUE(director.controller.start());
    work(director);
  }
  spdlog::set_default_logger(before);
  return out.str();
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Controller, EachChangeInForceIsALineOfTheLog) {
  const std::string log = logged([](ControlledDirector& director) {
    ASSERT_TRUE(director("backend add web web-9 10.0.1.19 --weight 50"));
    ASSERT_TRUE(director("backend drain web web-1"));
    ASSERT_TRUE(director("backend drain web web-1")) << "unchanged";
    ASSERT_TRUE(director("plan backend drain web web-2")) << "planned only";
    ASSERT_FALSE(director("backend remove web web-2")) << "refused";
    ASSERT_TRUE(director("backend remove web web-2 --force"));
    ASSERT_TRUE(director("health set web web-3 down"));
  });
  EXPECT_EQ(lines_of(log), 4U) << log;
  EXPECT_NE(log.find("info: change: backend add web web-9 10.0.1.19 --weight 50: epoch 2, by this process\n"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("backend drain web web-1: epoch 3"), std::string::npos) << log;
  EXPECT_NE(log.find("backend remove web web-2: epoch 4, by this process, forced\n"), std::string::npos)
      << log;
  EXPECT_NE(log.find("health set web web-3 down: epoch 4"), std::string::npos) << log;
}

TEST(Controller, AStormOfChangesIsCountedInTheLog) {
  const std::string log = logged([](ControlledDirector& director) {
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(director("backend drain web web-1"));
      ASSERT_TRUE(director("backend undrain web web-1"));
    }
  });
  EXPECT_LE(lines_of(log), 80U);
  EXPECT_NE(log.find("more changes, up to epoch "), std::string::npos) << log;
}

TEST(Controller, AJournalThatFailsIsAWarningAndNoFlood) {
  const ScratchDirectory scratch;
  const auto state = scratch.path() / "state";
  const std::string log = logged(
      [&](ControlledDirector& director) {
        std::filesystem::remove_all(state);
        for (int i = 0; i < 20; ++i) ASSERT_FALSE(director("backend drain web web-1"));
      },
      *Journal::open(state));
  EXPECT_EQ(log.find("warning: a change was refused, the journal could not be written: "), 0U) << log;
  EXPECT_LE(lines_of(log), 2U) << log;
}

TEST(Controller, TheLogShowsNoControlCharacters) {
  EXPECT_EQ(log_text("a\nb\x1b[31m\\\xc3\xa4"), "a\\x0ab\\x1b[31m\\\\\\xc3\\xa4");
  EXPECT_EQ(log_text(std::string(1000, 'x'), 10), "xxxxxxxxxx...");
}

// Ids by backend and service, as the workers have them.
std::map<std::string, std::uint64_t> ids_of(const Snapshot& snapshot) {
  std::map<std::string, std::uint64_t> out;
  for (const auto& pool : snapshot.pools)
    for (const SnapshotBackend& backend : pool->backends) out[backend.address.text()] = to_index(backend.id);
  for (const SnapshotService& service : snapshot.services) out[service.name] = to_index(service.id);
  return out;
}

TEST(Controller, AJournalThatFailsLeavesEveryIdAsItWas) {
  const ScratchDirectory scratch;
  const auto state = scratch.path() / "state";
  ControlledDirector director(small_site(), {ip("192.0.2.1"), ip("2001:db8::1")}, *Journal::open(state));
  ASSERT_TRUE(director.controller.start());
  const auto before = ids_of(*director.publisher.newest());
  std::filesystem::remove_all(state);
  for (const char* change : {"backend remove web web-1 --force", "backend add web web-9 10.0.1.19",
                             "service remove www --force", "service add more 203.0.113.9 web"})
    ASSERT_FALSE(director(change)) << change;
  // Health needs no journal, and makes a snapshot.
  const int published = director.publisher.count();
  ASSERT_TRUE(director("health set web web-3 down"));
  ASSERT_GT(director.publisher.count(), published);
  EXPECT_EQ(ids_of(*director.publisher.newest()), before) << "counters and flow-table entries would be lost";
}

TEST(Controller, HealthMovesRowsWithoutAnEpoch) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  ASSERT_TRUE(director.live.set_health("web", "web-2", Health::down));
  director.controller.health_changed();
  EXPECT_TRUE(soon([&] { return first_rows(*director.publisher.newest(), "10.0.1.12") == 0; }));
  EXPECT_EQ(director.publisher.newest()->epoch, Epoch{1});
  const int published = director.publisher.count();
  for (int i = 0; i < 100; ++i) director.controller.health_changed();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(director.publisher.count(), published) << "the same view was published again";
}

TEST(Controller, RowsAreToldAsTheWorkersHaveThem) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  const auto told = [&] { return director("table show web")->at("rows"); };
  const json before = told();
  ASSERT_TRUE(director.live.set_health("web", "web-2", Health::down));
  EXPECT_EQ(told(), before) << "nobody has published rows of it";
  EXPECT_NE(director("backend list web")->at("backends")[1]["health"], "down");
  director.controller.health_changed();
  EXPECT_TRUE(soon([&] { return told() != before; }));
  EXPECT_EQ(first_rows(*director.publisher.newest(), "10.0.1.12"), 0U);
  EXPECT_EQ(director("backend list web")->at("backends")[1]["health"], "down");
}

// While one drains and another is down, a third takes their rows' new flows; then the second comes back.
TEST(Controller, AStandInThatHealthForgetsIsCounted) {
  for (const bool flow_table : {false, true}) {
    Site site = small_site();
    site.pools.edit(0).flow_table = flow_table;
    ControlledDirector director(site);
    ASSERT_TRUE(director.controller.start());
    ASSERT_TRUE(director("backend drain web web-1"));
    ASSERT_TRUE(director("health set web web-2 down"));
    EXPECT_TRUE(director.controller.metrics().publish.rows_forgotten.empty())
        << "a new first hop forgets nobody";
    const auto before = director.publisher.newest();
    ASSERT_TRUE(director("health set web web-2 auto"));
    const auto& after = director.publisher.newest()->pools[0]->rows;
    std::uint64_t lost = 0;
    for (std::size_t row = 0; row < after.size(); ++row) {
      const auto& hops = after[row].hop;
      if (std::find(hops.begin(), hops.end(), before->pools[0]->rows[row].hop[0]) == hops.end()) ++lost;
    }
    ASSERT_GT(lost, 0U) << "this story loses nothing, so it shows nothing";
    const auto counted = director.controller.metrics().publish.rows_forgotten;
    if (flow_table) {
      EXPECT_TRUE(counted.empty()) << "the table keeps them";
    } else {
      EXPECT_EQ(counted, (std::map<std::string, std::uint64_t>{{"web", lost}}));
    }
  }
}

TEST(Controller, HealthByHandActsBeforeItIsAnswered) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  ASSERT_TRUE(director("health set web web-3 down"));
  EXPECT_EQ(first_rows(*director.publisher.newest(), "10.0.1.13"), 0U);
  ASSERT_TRUE(director("health set web web-3 auto"));
  EXPECT_GT(first_rows(*director.publisher.newest(), "10.0.1.13"), 300U);
}

TEST(Controller, MetricsCarryTheDigestsThatCommandsShow) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  const auto same = [&director] {
    const MetricsView view = director.controller.metrics();
    const json digests = *director("table digest");
    EXPECT_EQ(digests["site_digest"], hex64(view.publish.site_digest));
    ASSERT_EQ(view.publish.pools.size(), 2U);
    for (const PoolDigests& pool : view.publish.pools) {
      for (const json& shown : digests["pools"]) {
        if (shown["pool"] != pool.pool) continue;
        EXPECT_EQ(shown["digest"], hex64(pool.rows)) << pool.pool;
        EXPECT_EQ(shown["site_digest"], hex64(pool.site)) << pool.pool;
      }
    }
  };
  same();
  ASSERT_TRUE(director("health set web web-3 down"));
  same();
  ASSERT_TRUE(director("backend drain web web-1"));
  same();
  ASSERT_TRUE(director("backend add web web-4 10.0.1.14"));
  same();
  EXPECT_EQ(director.controller.metrics().epoch, Epoch{3});
}

TEST(Controller, NobodyWaitsForAReader) {
  ControlledDirector director;
  std::promise<void> reading, go_on;
  director.live.on_memory = [&] {
    reading.set_value();
    go_on.get_future().wait();
  };
  ASSERT_TRUE(director.controller.start());
  std::thread reader([&director] {
    const auto status = director("status");
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ((*status)["epoch"], 1) << "a reader sees one moment";
  });
  reading.get_future().wait();
  EXPECT_TRUE(director("backend drain web web-1"));
  EXPECT_TRUE(director("plan backend remove web web-2"));
  ASSERT_TRUE(director.live.set_health("web", "web-2", Health::down));
  director.controller.health_changed();
  EXPECT_TRUE(soon([&] { return first_rows(*director.publisher.newest(), "10.0.1.12") == 0; }));
  go_on.set_value();
  reader.join();
}

// The plan of a removal that takes long; what comes first counts, and the plan is made again.
TEST(Controller, NobodyWaitsForAPlan) {
  for (const bool expects : {false, true}) {
    ControlledDirector director;
    ASSERT_TRUE(director.controller.start());
    ASSERT_TRUE(director("backend drain web web-1"));
    std::promise<void> planning, go_on;
    std::atomic<int> plans{0};
    director.live.on_flows_left = [&] {
      if (plans++ != 0) return;
      planning.set_value();
      go_on.get_future().wait();
    };
    std::thread remover([&director, expects] {
      auto arguments = parse_command(*split_words("backend remove web web-1"));
      if (expects) arguments->expect_epoch = Epoch{2};
      const auto removed = director.controller.run(*arguments);
      if (expects) {
        ASSERT_FALSE(removed);
        EXPECT_EQ(removed.error().kind, ErrorKind::stale);
        return;
      }
      ASSERT_TRUE(removed) << removed.error().text();
      EXPECT_EQ((*removed)["epoch"], 4);
    });
    planning.get_future().wait();
    const auto drained = director("backend drain web web-2");
    ASSERT_TRUE(drained) << drained.error().text();
    EXPECT_EQ((*drained)["epoch"], 3);
    EXPECT_EQ(director.publisher.newest()->epoch, Epoch{3});
    const int published = director.publisher.count();
    ASSERT_TRUE(director.live.set_health("web", "web-3", Health::down));
    director.controller.health_changed();
    EXPECT_TRUE(soon([&] { return director.publisher.count() > published; }));
    go_on.set_value();
    remover.join();
    EXPECT_EQ(plans, expects ? 1 : 2);
    EXPECT_EQ(director.publisher.newest()->epoch, expects ? Epoch{3} : Epoch{4});
    EXPECT_EQ(first_rows(*director.publisher.newest(), "10.0.1.12"), 0U)
        << "the drain that came first is kept";
  }
}

TEST(Controller, CommandsFromManyThreadsAreOneAfterTheOther) {
  ControlledDirector director;
  ASSERT_TRUE(director.controller.start());
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&director, &done, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string backend = "web-" + std::to_string(1 + t % 3);
        // Forced: for a moment all may be draining at once.
        if (director((i % 2 == 0 ? "backend drain --force web " : "backend undrain web ") + backend)) ++done;
        if (director("table digest web")) ++done;
        director.controller.health_changed();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 160);
}

}  // namespace
}  // namespace guideway
