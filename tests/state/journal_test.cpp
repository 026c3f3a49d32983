// The journal: what it gives back, what it keeps, and damage that is found and named.
#include "state/journal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "journals.h"
#include "state/sealed_text.h"
#include "state/seating_file.h"
#include "state/site_file.h"

namespace guideway {
namespace {

TEST(Journal, ANewOneIsEmpty) {
  const Journal journal = open_on(std::make_shared<Platters>());
  EXPECT_EQ(*journal.load(), std::nullopt);
  EXPECT_EQ(*journal.load_previous(), std::nullopt);
}

TEST(Journal, GivesBackTheNewestAndTheOneBefore) {
  const auto platters = std::make_shared<Platters>();
  const auto versions = chain();
  {
    Journal journal = open_on(platters);
    for (const SiteVersion& version : versions) ASSERT_TRUE(journal.store(version));
  }
  const Journal journal = open_on(platters);
  EXPECT_TRUE(sites::same(**journal.load(), versions.back()));
  EXPECT_TRUE(sites::same(**journal.load_previous(), versions[versions.size() - 2]));
}

TEST(Journal, EveryChangedByteIsFound) {
  const auto platters = std::make_shared<Platters>();
  ASSERT_TRUE(open_on(platters).store(first_version()));
  for (const auto& [name, bytes] : std::map(platters->files)) {
    if (name.starts_with("changes-")) continue;
    for (std::size_t at = 0; at<bytes.size(); at += bytes.size()> 600 ? 7 : 1) {
      const auto damaged = std::make_shared<Platters>();
      damaged->files = platters->files;
      damaged->files[name][at] = static_cast<char>(bytes[at] ^ 0x10);
      const auto found = open_on(damaged).load();
      ASSERT_FALSE(found) << name << " byte " << at;
      ASSERT_NE(found.error().text().find("site-00000000000000000001.toml"), std::string::npos)
          << found.error().text();
    }
  }
}

TEST(Journal, EveryTruncationIsFound) {
  const auto platters = std::make_shared<Platters>();
  ASSERT_TRUE(open_on(platters).store(first_version()));
  for (const auto& [name, bytes] : std::map(platters->files)) {
    for (std::size_t size = 0; size<bytes.size(); size += bytes.size()> 10'000 ? 4093 : 1) {
      const auto damaged = std::make_shared<Platters>();
      damaged->files = platters->files;
      damaged->files[name].resize(size);
      ASSERT_FALSE(open_on(damaged).load()) << name << " cut to " << size;
    }
  }
}

// A whole version and two changes; the second is the newest version.
struct ThreeVersions : testing::Test {
  std::shared_ptr<Platters> platters = std::make_shared<Platters>();
  std::vector<SiteVersion> versions = chain();
  ThreeVersions() {
    versions.resize(3);
    Journal journal = open_on(platters);
    for (const SiteVersion& version : versions) EXPECT_TRUE(journal.store(version));
  }
  // With another byte in the changes.
  [[nodiscard]] std::shared_ptr<Platters> damaged_at(std::size_t at) const {
    auto out = std::make_shared<Platters>();
    out->files = platters->files;
    char& byte = out->files.at(changes)[at];
    byte = static_cast<char>(byte ^ 0x10);
    return out;
  }
  const std::string changes = "changes-00000000000000000001";
};

TEST_F(ThreeVersions, DamageBeforeAGoodChangeIsNamedWithTheWayOut) {
  const std::size_t text = platters->files.at(changes).find('\0');
  for (std::size_t at = 0; at < text; ++at) {
    const auto found = open_on(damaged_at(at)).load();
    ASSERT_FALSE(found) << "byte " << at;
    ASSERT_EQ(
        found.error().text(),
        "/simulated/changes-00000000000000000001: the changes since epoch 1 of the site cannot be used: "
        "what stands at byte 0 is damaged, and a good change follows; restore it from a backup, or move "
        "/simulated/changes-00000000000000000001 away to go on with epoch 1");
  }
  platters->files.erase(changes);
  Journal journal = open_on(platters);
  EXPECT_TRUE(sites::same(**journal.load(), versions[0]));
  EXPECT_GE(journal.highest(), versions[2].epoch) << "an epoch is never given twice";
  ASSERT_EQ(journal.notes().size(), 1U);
  EXPECT_EQ(
      journal.notes()[0],
      "/simulated/changes-00000000000000000001 is not there: if it held changes, they are lost; going on "
      "with epoch 1");
}

TEST_F(ThreeVersions, AfterAWriteThatWasCutOffTheVersionBeforeCounts) {
  const std::string& bytes = platters->files.at(changes);
  const std::size_t begin = bytes.find("# guideway change", 1), end = bytes.find('\0', begin);
  ASSERT_EQ(begin % 4096, 0U) << "so that what is torn takes nothing from what stands before it";
  for (std::size_t at = begin; at < end; ++at) {
    const auto torn = damaged_at(at);
    Journal journal = open_on(torn);
    ASSERT_TRUE(sites::same(**journal.load(), versions[1])) << "byte " << at;
    ASSERT_TRUE(sites::same(**journal.load_previous(), versions[0])) << "byte " << at;
    ASSERT_EQ(journal.notes().size(), 1U);
    ASSERT_NE(journal.notes()[0].find("going on with epoch 2"), std::string::npos) << journal.notes()[0];
    ASSERT_GE(journal.highest(), versions[2].epoch) << "it may have been given";
    const SiteVersion next = renumbered(versions[2], journal);
    ASSERT_TRUE(journal.store(next));
    ASSERT_TRUE(sites::same(**open_on(torn).load(), next));
    ASSERT_TRUE(sites::same(**open_on(torn).load_previous(), versions[1]));
  }
}

TEST_F(ThreeVersions, WhoTakesAFileFromUnderItLosesNoVersionThatFollows) {
  for (const std::string& file : {changes, std::string("site-00000000000000000001.toml")}) {
    const auto robbed = std::make_shared<Platters>(*platters);
    Journal journal = open_on(robbed);
    ASSERT_TRUE(*journal.load());
    robbed->files.erase(file);
    const SiteVersion next = renumbered(versions[1], journal);
    ASSERT_TRUE(journal.store(next)) << file;
    EXPECT_TRUE(sites::same(**open_on(robbed).load(), next)) << file;
  }
}

TEST(Journal, ADamagedNewestVersionIsNamedWithTheWayOut) {
  const auto platters = std::make_shared<Platters>();
  const auto versions = chain();
  {
    Journal journal = open_on(platters);
    ASSERT_TRUE(journal.store(versions[0]));
    platters->files.erase("changes-00000000000000000001");  // so that the next is written as a whole
    ASSERT_TRUE(journal.store(versions[1]));
  }
  const std::string newest = "site-00000000000000000002.toml";
  platters->files[newest] += "#";
  EXPECT_EQ(
      open_on(platters).load().error().text(),
      "/simulated/site-00000000000000000002.toml: epoch 2 of the site cannot be used: the version is damaged "
      "(its checksum does not fit); restore it from a backup, or move "
      "/simulated/site-00000000000000000002.toml away to go on with epoch 1");
  platters->files.erase(newest);
  EXPECT_TRUE(sites::same(**open_on(platters).load(), versions[0]));
}

TEST(Journal, ADrainWritesNoSeating) {
  const auto platters = std::make_shared<Platters>();
  Journal journal = open_on(platters);
  const SiteVersion first = first_version();
  ASSERT_TRUE(journal.store(first));
  const std::size_t files = platters->files.size();
  ASSERT_TRUE(journal.store(sites::after(first, SetBackendState{"web", "web-1", BackendState::draining})));
  EXPECT_EQ(platters->files.size(), files);
}

TEST(Journal, KeepsABoundedNumberOfVersionsAndTheirSeatings) {
  const auto platters = std::make_shared<Platters>();
  Journal journal = open_on(platters);
  SiteVersion version = first_version();
  ASSERT_TRUE(journal.store(version));
  for (int i = 0; i < 100; ++i) {
    version = sites::after(version, SetBackendWeight{"web", "web-1", static_cast<std::uint32_t>(101 + i)});
    ASSERT_TRUE(journal.store(version));
  }
  // Each with its own seating; a version is kept as long as others that are told against it.
  const auto count = [&](std::string_view prefix) {
    return static_cast<std::size_t>(
        std::count_if(platters->files.begin(), platters->files.end(),
                      [&](const auto& file) { return file.first.starts_with(prefix); }));
  };
  EXPECT_GE(count("seating-"), Journal::versions_kept);
  EXPECT_LE(count("seating-"), 2 * (Journal::versions_kept + 1));
  EXPECT_LE(count("site-"), 2U);
  EXPECT_EQ(count("site-"), count("changes-"));
  EXPECT_EQ(count("highest-epoch-"), 1U);
}

// As many as fill several change files, with and without somebody who tidies up after them.
TEST(Journal, EveryOneOfManyChangesIsThereAfterARestart) {
  for (const bool tidies : {true, false}) {
    const auto platters = std::make_shared<Platters>();
    Journal journal = open_on(platters);
    SiteVersion before = first_version();
    ASSERT_TRUE(journal.store(before));
    for (int i = 0; i < 150; ++i) {
      const SiteVersion version = sites::after(
          before,
          SetBackendState{"web", "web-1", i % 2 == 0 ? BackendState::draining : BackendState::active});
      ASSERT_TRUE(journal.store(version));
      if (tidies) {
        ASSERT_TRUE(journal.tidy());
      }
      const Journal restarted = open_on(std::make_shared<Platters>(*platters));
      ASSERT_TRUE(sites::same(**restarted.load(), version));
      ASSERT_TRUE(sites::same(**restarted.load_previous(), before));
      ASSERT_EQ(restarted.highest(), version.epoch) << "none is left out";
      ASSERT_TRUE(restarted.notes().empty()) << restarted.notes()[0];
      before = version;
    }
  }
}

TEST(Journal, AVersionThatWasBegunIsTakenBackAsIfItHadNotBeen) {
  const auto versions = chain();
  const auto platters = std::make_shared<Platters>();
  Journal journal = open_on(platters);
  for (const SiteVersion& version : versions) {
    const Epoch highest = journal.highest();
    SiteVersion refused = version;
    refused.epoch = Epoch{to_index(highest) + 1};
    ASSERT_TRUE(journal.begin(refused));
    journal.take_back();
    const auto left = open_on(std::make_shared<Platters>(*platters)).load();
    if (highest == Epoch{}) {
      ASSERT_FALSE(left->has_value());
    } else {
      ASSERT_TRUE(sites::same(**left, **journal.load()));
    }
    const SiteVersion next = renumbered(version, journal);
    ASSERT_TRUE(journal.store(next));
    ASSERT_TRUE(sites::same(**open_on(std::make_shared<Platters>(*platters)).load(), next));
  }
}

// What an earlier guidewayd has left: every version a file of its own.
TEST(Journal, OneOfWholeVersionsOnlyIsGoneOnWith) {
  const auto platters = std::make_shared<Platters>();
  const auto versions = chain();
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string seating = seating_bytes(*versions[i].seatings.at("web"));
    platters->files["seating-" + content_hash(seating)] = seating;
    platters->files[fmt::format("site-{:020}.toml", i + 1)] = sealed(
        "# guideway site, journal format 1, checksum ",
        version_lines(versions[i].epoch, {{"web", content_hash(seating)}}) + print_site(versions[i].site));
  }
  platters->files["highest-epoch-00000000000000000002"] = "";
  {
    Journal journal = open_on(platters);
    EXPECT_TRUE(journal.notes().empty());
    EXPECT_EQ(journal.highest(), Epoch{2});
    EXPECT_TRUE(sites::same(**journal.load(), versions[1]));
    EXPECT_TRUE(sites::same(**journal.load_previous(), versions[0]));
    ASSERT_TRUE(journal.store(versions[2]));
    ASSERT_TRUE(journal.store(versions[3]));
  }
  const Journal journal = open_on(platters);
  EXPECT_TRUE(sites::same(**journal.load(), versions[3]));
  EXPECT_TRUE(sites::same(**journal.load_previous(), versions[2]));
  EXPECT_TRUE(platters->files.contains("site-00000000000000000001.toml"));
}

TEST(Journal, SweepsUpWhatACutLeftBehind) {
  const auto platters = std::make_shared<Platters>();
  ASSERT_TRUE(open_on(platters).store(first_version()));
  const std::size_t files = platters->files.size();
  platters->files["site-00000000000000000002.toml.tmp"] = "half";
  platters->files["seating-0123456789abcdef0123456789abcdef"] = "an orphan";
  platters->files["notes.txt"] = "an operator's own file";
  Journal journal = open_on(platters);
  ASSERT_TRUE(journal.load());
  EXPECT_EQ(platters->files.size(), files + 1);
  EXPECT_TRUE(platters->files.contains("notes.txt"));
}

TEST(Journal, AnOldEpochIsRefused) {
  Journal journal = open_on(std::make_shared<Platters>());
  ASSERT_TRUE(journal.store(first_version()));
  EXPECT_FALSE(journal.store(first_version()));
}

TEST(Journal, AnEpochIsNeverGivenTwiceWhateverIsTakenAway) {
  const auto platters = std::make_shared<Platters>();
  const auto versions = chain();
  {
    Journal journal = open_on(platters);
    EXPECT_EQ(journal.highest(), Epoch{0});
    for (const SiteVersion& version : versions) ASSERT_TRUE(journal.store(version));
  }
  // By hand: all changes since the first version go.
  const Epoch highest = versions.back().epoch;
  ASSERT_EQ(platters->files.erase("changes-00000000000000000001"), 1U);
  Epoch given{};
  {
    Journal journal = open_on(platters);
    EXPECT_TRUE(sites::same(**journal.load(), versions[0]));
    EXPECT_GE(journal.highest(), highest);
    EXPECT_FALSE(journal.store(versions.back())) << "it was given once";
    const SiteVersion next = renumbered(versions.back(), journal);
    ASSERT_TRUE(journal.store(next));
    given = next.epoch;
  }
  // All of them go: what a start makes of the file of --site is above them, too.
  std::erase_if(platters->files, [](const auto& file) {
    return file.first.starts_with("site-") || file.first.starts_with("changes-");
  });
  Journal emptied = open_on(platters);
  EXPECT_EQ(*emptied.load(), std::nullopt);
  EXPECT_GE(emptied.highest(), given);
  // And an older version that comes back is no step back.
  const SiteVersion back = renumbered(versions[0], emptied);
  ASSERT_TRUE(emptied.store(back));
  EXPECT_EQ(emptied.highest(), back.epoch);
}

}  // namespace
}  // namespace guideway
