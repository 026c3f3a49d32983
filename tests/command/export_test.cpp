// An export leads to the same rows on another director, whatever the site and its history.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../state/scratch_directory.h"
#include "../state/sites.h"
#include "command/json_text.h"
#include "command/offline.h"
#include "command/site_export.h"
#include "fake_director.h"

namespace guideway {
namespace {

using nlohmann::json;

// Changes as a year of operation would bring them: deals, drains, and what is refused is left out.
void live_through(FakeDirector& director, int steps) {
  for (int step = 0; step < steps; ++step) {
    const Site& site = director.store.current().site;
    if (site.pools.empty()) return;
    const Pool& pool = site.pools[*rc::gen::inRange<std::size_t>(0, site.pools.size())];
    if (pool.backends.empty()) continue;
    const Backend& backend = *rc::gen::elementOf(pool.backends);
    const auto change = *rc::gen::element<Change>(
        RemoveBackend{pool.name, backend.name},
        SetBackendState{pool.name, backend.name, BackendState::draining},
        SetBackendState{pool.name, backend.name, BackendState::active},
        SetBackendWeight{pool.name, backend.name, *rc::gen::inRange<std::uint32_t>(1, 500)});
    (void)director.store.commit(change, {}, {.force = true});
  }
}

TEST(Export, AppliedElsewhereGivesTheSameDigests) {
  EXPECT_TRUE(rc::check("export, apply", [] {
    Site site = sites::any_valid();
    for (std::size_t i = 0; i < site.pools.size(); ++i)
      site.pools.edit(i).rows = *rc::gen::element(251U, 509U, 1009U);  // so that a hundred are quick
    FakeDirector here(std::move(site));
    live_through(here, *rc::gen::inRange(0, 6));
    const std::string text = json_text(*here("site export"));
    FakeDirector there{Site{}};
    const auto answer = there("apply export.json --force", text);
    if (!answer) RC_FAIL(answer.error().text());
    const SiteVersion &a = here.store.current(), &b = there.store.current();
    RC_ASSERT(a.site == b.site);
    for (const auto& [pool, seating] : a.seatings) RC_ASSERT(*seating == *b.seatings.at(pool));
    RC_ASSERT((*here("table digest"))["site_digest"] == (*there("table digest"))["site_digest"]);
    RC_ASSERT((*there("apply export.json", text))["result"] == "unchanged");
  }));
}

TEST(Export, HistoryMakesADifferenceAndTheExportCarriesIt) {
  FakeDirector here;
  ASSERT_TRUE(here("backend add web web-4 10.0.1.14"));
  ASSERT_TRUE(here("backend weight web web-2 300"));
  const json exported = *here("site export");
  FakeDirector by_site{Site{}}, by_export{Site{}};
  ASSERT_TRUE(by_site("apply site.toml", exported["site"].get<std::string>()));
  ASSERT_TRUE(by_export("apply export.json", json_text(exported)));
  const auto digest = [](FakeDirector& director) { return (*director("table digest"))["site_digest"]; };
  EXPECT_NE(digest(by_site), digest(here)) << "the same site, dealt at once";
  EXPECT_EQ(digest(by_export), digest(here));
  // The seatings of another director can also be taken over later.
  const auto adopted = by_site("apply export.json", json_text(exported));
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_GT((*adopted)["seats_moved"], 0);
  EXPECT_EQ(digest(by_site), digest(here));
}

TEST(Export, AFileOfItAnswersOffline) {
  FakeDirector here;
  ASSERT_TRUE(here("backend weight web web-2 300"));
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "export.json").string();
  std::ofstream(file) << json_text(*here("site export"));
  const auto offline = OfflineContext::open(file, "");
  ASSERT_TRUE(offline) << offline.error().text();
  const auto digest = run_command(**offline, *parse_command(*split_words("table digest")));
  ASSERT_TRUE(digest) << digest.error().text();
  EXPECT_EQ((*digest)["site_digest"], (*here("table digest"))["site_digest"]);
}

TEST(Export, WhatDoesNotFitIsRefused) {
  FakeDirector director;
  const json good = *director("site export");
  const struct {
    const char* description;
    std::function<void(json&)> spoil;
    const char* part;
  } cases[] = {
      {"no site", [](json& e) { e.erase("site"); }, "holds no site"},
      {"a site of another type", [](json& e) { e["site"] = 7; }, "holds no site"},
      {"seatings of another type", [](json& e) { e["seatings"] = 7; }, "seatings"},
      {"a holder that is no index", [](json& e) { e["seatings"]["web"]["holder"][5] = -1; }, "not whole"},
      {"an index beyond the members", [](json& e) { e["seatings"]["web"]["holder"][5] = 77; },
       "seating of pool"},
      {"a row too few", [](json& e) { e["seatings"]["web"]["holder"].erase(0); }, "seating of pool"},
      {"a member without a weight", [](json& e) { e["seatings"]["web"]["members"][0].erase("weight"); },
       "not whole"},
      {"another weight", [](json& e) { e["seatings"]["web"]["members"][0]["weight"] = 7; },
       "not of the pool's"},
      {"another seed", [](json& e) { e["seatings"]["web"]["seed"] = "0x1"; }, "not of the pool's"},
      {"a pool that is not there", [](json& e) { e["seatings"]["more"] = e["seatings"]["web"]; },
       "no such pool"},
      {"a mistake in the site", [](json& e) { e["site"] = "pool = [["; }, "export.json:"},
  };
  for (const auto& one : cases) {
    json spoiled = good;
    one.spoil(spoiled);
    const auto answer = director("apply export.json", json_text(spoiled));
    ASSERT_FALSE(answer) << one.description;
    EXPECT_NE(answer.error().text().find(one.part), std::string::npos)
        << one.description << ": " << answer.error().text();
    EXPECT_FALSE(answer.error().next.empty()) << one.description << ": " << answer.error().text();
    EXPECT_EQ(director.store.current().epoch, Epoch{1}) << one.description;
  }
  EXPECT_FALSE(director("apply export.json", "{\"site\": "));
}

}  // namespace
}  // namespace guideway
