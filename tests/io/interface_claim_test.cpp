// Interface claims: one holder a name and network namespace, and nothing stays of one that is gone.
#include "io/interface_claim.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

namespace guideway {
namespace {

TEST(InterfaceClaim, IsGivenOnceAndComesBack) {
  auto first = claim_interface("gw-claim0");
  ASSERT_TRUE(first && *first);
  const auto second = claim_interface("gw-claim0");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().text(),
            "another guidewayd (process " + std::to_string(getpid()) +
                ") uses gw-claim0 already; stop that one, or give this one other interfaces");
  EXPECT_TRUE(claim_interface("gw-claim1")) << "another interface";
  EXPECT_TRUE(claim_interface("gw-claim"));
  *first = Fd();
  EXPECT_TRUE(claim_interface("gw-claim0"));
}

TEST(InterfaceClaim, EndsWithItsProcessHoweverThatEnds) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = claim_interface("gw-claim2");
    static_cast<void>(write(ready[1], held ? "y" : "n", 1));
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const auto refused = claim_interface("gw-claim2");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("process " + std::to_string(child)), std::string::npos)
      << refused.error().what;
  EXPECT_TRUE(claim_interface("gw-claim2"));
}

TEST(InterfaceClaim, IsOfOneNetworkNamespace) {
  if (geteuid() != 0) GTEST_SKIP() << "a network namespace needs root";
  const auto here = claim_interface("gw-claim3");
  ASSERT_TRUE(here);
  bool there = false, moved = false;
  std::thread([&] {
    moved = unshare(CLONE_NEWNET) == 0;
    there = moved && claim_interface("gw-claim3").has_value();
  }).join();
  if (!moved) GTEST_SKIP() << "no network namespace can be made here";
  EXPECT_TRUE(there);
}

// Has the interface's name and does not listen; none: somebody has it.
Fd squatter_of(const std::string& interface) {
  Fd out(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = std::string(1, '\0') + "guideway/interface/" + interface;
  name.copy(address.sun_path, name.size());
  const int bound = bind(out.get(), reinterpret_cast<sockaddr*>(&address),
                         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()));
  return bound == 0 ? std::move(out) : Fd();
}

TEST(InterfaceClaim, IsTakenFromADaemonThatIsGoing) {
  Fd going = squatter_of("gw-claim7");
  ASSERT_TRUE(going);
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    going = Fd();
  });
  const auto claimed = claim_interface("gw-claim7");
  end.join();
  ASSERT_TRUE(claimed);
  EXPECT_TRUE(*claimed) << "and kept from the next one";
}

TEST(InterfaceClaim, ANameThatNobodyListensAtIsNoDaemons) {
  const Fd squatter = squatter_of("gw-claim6");
  ASSERT_TRUE(squatter);
  EXPECT_TRUE(claim_interface("gw-claim6"));
  ASSERT_EQ(listen(squatter.get(), 1), 0);
  EXPECT_FALSE(claim_interface("gw-claim6")) << "of our own user, and it listens";
}

TEST(InterfaceClaim, CannotBeTakenFromUsBySomebodyWithoutRights) {
  if (geteuid() != 0) GTEST_SKIP() << "another user needs root";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(1);
    const auto held = claim_interface("gw-claim4");
    static_cast<void>(write(ready[1], held ? "y" : "n", 1));
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  const auto claimed = claim_interface("gw-claim4");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(claimed) << claimed.error().text();
}

}  // namespace
}  // namespace guideway
