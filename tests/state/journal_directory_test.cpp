// The journal in a real directory: its lock, what somebody else does to its files, and kill -9.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "journals.h"
#include "scratch_directory.h"

namespace guideway {
namespace {

// A pipe has no end, and opening one may wait for ever.
TEST(JournalDirectory, APipeInPlaceOfAFileIsNamed) {
  const ScratchDirectory directory;
  ASSERT_TRUE(Journal::open(directory.path())->store(first_version()));
  std::string version, seating, changes;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().filename().string().starts_with("site-")) version = entry.path();
    if (entry.path().filename().string().starts_with("seating-")) seating = entry.path();
    if (entry.path().filename().string().starts_with("changes-")) changes = entry.path();
  }
  for (const std::string& file : {seating, version, changes}) {
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const auto loaded = Journal::open(directory.path())->load();
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().text().find("it is no file"), std::string::npos) << loaded.error().text();
    EXPECT_NE(loaded.error().text().find(file == changes ? changes : version), std::string::npos)
        << loaded.error().text();
  }
}

TEST(JournalDirectory, ASeatingThatSomebodyTookAwayComesBackWithTheNextVersion) {
  const ScratchDirectory directory;
  auto journal = Journal::open(directory.path());
  ASSERT_TRUE(journal);
  const SiteVersion first = first_version();
  ASSERT_TRUE(journal->store(first));
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    if (entry.path().filename().string().starts_with("seating-")) std::filesystem::remove(entry.path());
  const SiteVersion second = sites::after(first, SetBackendState{"web", "web-1", BackendState::draining});
  ASSERT_TRUE(journal->store(second));
  ASSERT_TRUE(journal->tidy());
  const auto again = [&] {
    *journal =
        *Journal::open(std::make_unique<SimulatedDisk>(std::make_shared<Platters>()));  // frees the lock
    return Journal::open(directory.path());
  }();
  ASSERT_TRUE(again);
  const auto loaded = again->load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(sites::same(**loaded, second));
}

TEST(JournalDirectory, ASecondDaemonIsRefusedWithTheHoldersPid) {
  const ScratchDirectory scratch;
  const auto held = Journal::open(scratch.path() / "state");
  ASSERT_TRUE(held) << held.error().text();
  const auto second = Journal::open(scratch.path() / "state");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what, fmt::format("the state directory is in use by process {}", getpid()));
}

TEST(JournalDirectory, TheLockIsFreedWithTheJournal) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(Journal::open(scratch.path()));
  EXPECT_TRUE(Journal::open(scratch.path()));
}

TEST(JournalDirectory, IsMadeWithThoseAboveIt) {
  const ScratchDirectory scratch;
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const char* wanted : {"a/b/state", "c/d/", "e/../f/state", "g"}) {
    const auto journal = Journal::open(wanted);
    EXPECT_TRUE(journal) << journal.error().text();
    EXPECT_TRUE(std::filesystem::is_directory(scratch.path() / wanted)) << wanted;
  }
  std::filesystem::current_path(here);
}

TEST(JournalDirectory, APathThatIsAFileIsRefused) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "file") << "x";
  EXPECT_FALSE(Journal::open(scratch.path() / "file"));
}

TEST(JournalDirectory, KillAtAnyMomentLeavesAWholeVersion) {
  const auto versions = chain();
  for (int delay_us = 0; delay_us < 30000; delay_us += 1500) {
    const ScratchDirectory scratch;
    const pid_t child = fork();
    if (child == 0) {
      auto journal = Journal::open(scratch.path());
      if (!journal) _exit(1);
      for (const SiteVersion& version : versions)
        if (!journal->store(version)) _exit(2);
      pause();
      _exit(0);
    }
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(delay_us));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    const auto journal = Journal::open(scratch.path());
    ASSERT_TRUE(journal) << journal.error().text();
    const auto found = journal->load();
    ASSERT_TRUE(found) << found.error().text();
    if (*found) {
      EXPECT_TRUE(sites::same(**found, versions[to_index((*found)->epoch) - 1]));
    }
  }
}

}  // namespace
}  // namespace guideway
