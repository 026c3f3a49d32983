// A state directory that can no longer be written, on a real file system: the change is refused in one sentence, the
// old version stays, and the next change goes through once there is room again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "scratch_directory.h"
#include "sites.h"
#include "state/store.h"

namespace guideway {
namespace {

// A file system of a megabyte in a mount namespace of its own, so that nothing is left of it.
class SmallDisk {
 public:
  SmallDisk() {
    made_ = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            mount("guideway-test", scratch_.path().c_str(), "tmpfs", 0, "size=1024k") == 0;
  }
  ~SmallDisk() {
    if (made_) umount2(scratch_.path().c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] std::filesystem::path state() const { return scratch_.path() / "state"; }
  void fill() {
    std::ofstream ballast(scratch_.path() / "ballast", std::ios::binary);
    const std::string block(4096, 'x');
    while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void empty() { std::filesystem::remove(scratch_.path() / "ballast"); }
  [[nodiscard]] bool set_read_only(bool read_only) const {
    return mount(nullptr, scratch_.path().c_str(), nullptr, read_only ? MS_REMOUNT | MS_RDONLY : MS_REMOUNT,
                 "size=1024k") == 0;
  }

 private:
  ScratchDirectory scratch_;
  bool made_ = false;
};

// In a process of its own, whose mounts end with it. 77: not possible here.
int in_child(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Store store_in(const std::filesystem::path& directory, std::optional<Site> seed) {
  auto journal = Journal::open(directory);
  EXPECT_TRUE(journal) << journal.error().text();
  auto store = Store::open(std::move(*journal), std::move(seed));
  EXPECT_TRUE(store) << store.error().text();
  return std::move(*store);
}

// A deal, which writes a seating.
void expect_refused(Store& store, std::string_view part) {
  const SiteVersion present = store.current();
  const auto refused = store.commit(AddBackend{"web", sites::backend(9)}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find(part), std::string::npos) << refused.error().text();
  EXPECT_FALSE(refused.error().next.empty());
  EXPECT_TRUE(sites::same(store.current(), present));
}

int exit_code_of_test() { return testing::Test::HasFailure() ? 1 : 0; }

int full_disk() {
  SmallDisk disk;
  if (!disk.made()) return 77;
  Store store = store_in(disk.state(), sites::site(3, 65537));
  disk.fill();
  expect_refused(store, "No space left");
  // A drain has its room already.
  EXPECT_TRUE(store.commit(SetBackendState{"web", "web-1", BackendState::draining}, {}, {}));
  disk.empty();
  EXPECT_TRUE(store.commit(SetBackendState{"web", "web-2", BackendState::draining}, {}, {}));
  const SiteVersion last = store.current();
  { const Store moved = std::move(store); }  // gives the directory back
  EXPECT_TRUE(sites::same(store_in(disk.state(), std::nullopt).current(), last));
  return exit_code_of_test();
}

int read_only_disk() {
  SmallDisk disk;
  if (!disk.made()) return 77;
  SiteVersion present;
  {
    Store store = store_in(disk.state(), sites::site(3, 1009));
    present = store.current();
  }
  // The lock's file stays open for writing while a journal is; the kernel then refuses a plain remount.
  if (!disk.set_read_only(true)) return 77;
  const auto refused = Journal::open(disk.state());
  EXPECT_FALSE(refused);
  const std::string text = refused ? "" : refused.error().text();
  EXPECT_NE(text.find("Read-only"), std::string::npos) << text;
  if (!disk.set_read_only(false)) return 77;
  EXPECT_TRUE(sites::same(store_in(disk.state(), std::nullopt).current(), present));
  return exit_code_of_test();
}

TEST(StateDirectory, AFullDiskRefusesTheChangeAndNothingElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  const int code = in_child(full_disk);
  if (code == 77) GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(code, 0);
}

TEST(StateDirectory, AReadOnlyDiskIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
  const int code = in_child(read_only_disk);
  if (code == 77) GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace guideway
