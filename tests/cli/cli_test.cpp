// The program as it is typed: exit codes, one sentence on the error stream, JSON and text, offline and online.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "../control/control_fixture.h"
#include "../state/scratch_directory.h"
#include "cli/command_line.h"
#include "control/api.h"
#include "state/site_file.h"

namespace guideway {
namespace {

using nlohmann::json;

struct Outcome {
  int code = -1;
  std::string out, err;
};

std::string text_in(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    if (program_ == nullptr) GTEST_SKIP() << "GUIDEWAY names no program; meson test sets it";
    std::ofstream(site_) << print_site(small_site());
    ASSERT_TRUE(director_.controller.start());
    auto socket = ApiSocket::open(socket_);
    ASSERT_TRUE(socket) << socket.error().text();
    auto api = Api::start(std::move(*socket),
                          [this](const Arguments& arguments) { return director_.controller.run(arguments); });
    ASSERT_TRUE(api) << api.error().text();
    api_ = std::move(*api);
  }

  // The program, with its words apart by blanks.
  Outcome run(const std::string& line) {
    std::vector<std::string> words = *split_words(line);
    std::vector<char*> argv{const_cast<char*>(program_)};
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = (scratch_.path() / "out").string(), err = (scratch_.path() / "err").string();
    const pid_t child = fork();
    if (child == 0) {
      dup2(out_ >= 0 ? out_ : open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      execv(program_, argv.data());
      _exit(127);
    }
    if (interrupt_) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      kill(child, SIGINT);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_in(out), text_in(err)};
  }
  Outcome ask(const std::string& line) { return run(line + " --socket " + socket_); }
  Outcome read_file(const std::string& line) { return run(line + " --site " + site_); }

  int out_ = -1;            // the standard output, where it is no file
  bool interrupt_ = false;  // after a while
  const char* program_ = std::getenv("GUIDEWAY");
  ScratchDirectory scratch_;
  std::string site_ = (scratch_.path() / "site.toml").string();
  std::string socket_ = (scratch_.path() / "api.sock").string();
  ControlledDirector director_;
  std::unique_ptr<Api> api_;
};

TEST_F(CliTest, AChangeWhoseAnswerBreaksOffIsInDoubt) {
  const std::string path = (scratch_.path() / "cut.sock").string();
  for (const auto& [line, code] : {std::pair{"backend drain web web-1", 5}, std::pair{"status", 3}}) {
    unlink(path.c_str());
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    std::thread director([listener] { close(accept(listener, nullptr, nullptr)); });
    const Outcome out = run(std::string(line) + " --socket " + path);
    director.join();
    close(listener);
    EXPECT_EQ(out.code, code) << out.err;
    EXPECT_EQ(out.err.find("may or may not be in force") != std::string::npos, code == 5) << out.err;
    EXPECT_EQ(out.err.find("--expect-epoch N") != std::string::npos, code == 5) << out.err;
  }
}

TEST_F(CliTest, AReaderThatHasGoneIsToldOnlyOfChanges) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
  close(pipe_ends[0]);
  out_ = pipe_ends[1];
  const Outcome question = ask("table show web");
  EXPECT_EQ(question.code, 141);
  EXPECT_EQ(question.err, "");
  const Outcome change = ask("backend drain web web-1");
  EXPECT_EQ(change.code, 1);
  EXPECT_NE(change.err.find("the command itself was done"), std::string::npos) << change.err;
  close(pipe_ends[1]);
}

TEST_F(CliTest, AnInterruptedWaitSaysThatTheDrainGoesOn) {
  director_.live.flows = 3;
  interrupt_ = true;
  const Outcome out = ask("backend drain web web-1 --wait");
  EXPECT_EQ(out.code, -1) << "ended by the signal";
  EXPECT_NE(out.err.find("goes on draining"), std::string::npos) << out.err;
  EXPECT_NE(out.err.find("guideway backend undrain web web-1"), std::string::npos) << out.err;
}

TEST_F(CliTest, DaemonAndFileAnswerTheSame) {
  for (const std::string line :
       {"table show web --json", "table digest --json", "table digest web", "pool list", "service list",
        "plan backend drain web web-1", "explain tcp 198.51.100.7:40000 203.0.113.10:443"}) {
    const Outcome online = ask(line);
    Outcome offline = read_file(line);
    // Without a director's file the outer source is an assumption, and said to be one.
    const std::string assumed =
        "the outer source stands for a director's own; name one with --director FILE\n";
    const std::size_t at = offline.out.find(assumed);
    EXPECT_EQ(at != std::string::npos, line.starts_with("explain")) << offline.out;
    if (at != std::string::npos) offline.out.erase(at, assumed.size());
    EXPECT_EQ(online.code, 0) << line << ": " << online.err;
    EXPECT_EQ(online.out, offline.out) << line;
    EXPECT_EQ(online.err + offline.err, "") << line;
  }
}

TEST_F(CliTest, AChangeIsDoneAndTold) {
  const Outcome drained = ask("backend drain web web-1 --json");
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_EQ(json::parse(drained.out)["epoch"], 2);
  EXPECT_EQ(ask("backend remove web web-1").code, 0);
  const Outcome applied = ask("apply --force " + site_);
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_NE(applied.out.find("backend web-1 added"), std::string::npos) << applied.out;
}

TEST_F(CliTest, WaitsForTheEndOfADrain) {
  director_.live.flows = 5;
  const Outcome late = ask("backend drain web web-1 --wait --timeout 100ms");
  EXPECT_EQ(late.code, 4);
  EXPECT_NE(late.err.find("5 live flows"), std::string::npos) << late.err;
  director_.live.flows = 0;
  const Outcome done = ask("backend drain web web-1 --wait --timeout=5s --json");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(json::parse(done.out).contains("waited_ms"));
  const Outcome told = ask("backend drain web web-2 --wait");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(told.out.find("done, epoch 3\n"), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("its last open flow has ended, after 0."), std::string::npos) << told.out;
  const Outcome unread = run("--socket --json");
  EXPECT_EQ(unread.code, 2);
  EXPECT_EQ(json::parse(run("status --json --socket").out)["kind"], "usage");
}

struct Refused {
  const char* line;
  int code;
  const char* part;
};

TEST_F(CliTest, RefusalsAreOneSentenceAndTheRightExitCode) {
  const Refused cases[] = {
      {"backend drain web web-9", 1, "web-9"},
      {"backend drain web web-1 --expect-epoch 77", 1, "epoch 77"},
      {"backend remove web web-1", 1, "--force"},
      {"backend weight web web-1 0", 2, "drain"},
      {"backend drain web web-1 --timeout 5s", 2, "--wait"},
      {"apply /nonexistent", 1, "/nonexistent"},
      {"check /nonexistent", 1, "/nonexistent"},
      {"backend explode web web-1", 2, "explode"},
      {"backend drain web", 2, "needs NAME"},
      {"--sokcet x status", 2, "--sokcet"},
      {"status --json=1", 2, "takes no value"},
      {"explain tcp 198.51.100.7:1 [2001:db8::1]:2", 2, "two address families"},
      {"replay --in x", 1, "guideway-replay"},
  };
  for (const Refused& one : cases) {
    const bool replay = std::string(one.line).starts_with("replay");
    if (replay && std::filesystem::exists(std::filesystem::path(program_).parent_path() / "guideway-replay"))
      continue;
    const Outcome refused = replay ? run(one.line) : ask(one.line);
    EXPECT_EQ(refused.code, one.code) << one.line << ": " << refused.err;
    EXPECT_EQ(refused.out, "") << one.line;
    EXPECT_TRUE(refused.err.starts_with("guideway: ")) << one.line << ": " << refused.err;
    EXPECT_NE(refused.err.find(one.part), std::string::npos) << one.line << ": " << refused.err;
    EXPECT_NE(refused.err.find("; "), std::string::npos) << one.line << ": no next step: " << refused.err;
    EXPECT_EQ(refused.err.find('\n'), refused.err.size() - 1)
        << one.line << ": not one line: " << refused.err;
  }
  const Outcome nobody = run("status --socket " + (scratch_.path() / "none.sock").string());
  EXPECT_EQ(nobody.code, 3);
  EXPECT_NE(nobody.err.find("none.sock"), std::string::npos);
}

TEST_F(CliTest, CheckNeedsNobody) {
  const Outcome good = run("check " + site_);
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("a good site"), std::string::npos);
  std::ofstream(site_, std::ios::app) << "rowz = 3\n";
  const Outcome bad = run("check " + site_);
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("site.toml:"), std::string::npos);
  EXPECT_NE(bad.err.find("rowz"), std::string::npos) << bad.err;
}

TEST_F(CliTest, HelpAndVersion) {
  EXPECT_NE(run("--help").out.find("backend drain POOL NAME"), std::string::npos);
  EXPECT_NE(run("backend drain --help").out.find("--wait"), std::string::npos);
  EXPECT_EQ(run("--version").out, std::string("guideway ") + GUIDEWAY_VERSION + "\n");
  EXPECT_EQ(run("").code, 2);
}

TEST(CommandLine, OptionsAreTakenOutWhereverTheyStand) {
  const auto line = read_command_line({"--site", "s.toml", "plan", "--json", "backend", "add", "web", "w",
                                       "10.0.0.1", "--weight=7", "--director=d.toml"});
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->json);
  EXPECT_EQ(line->site, "s.toml");
  EXPECT_EQ(line->director, "d.toml");
  EXPECT_EQ(line->words,
            (std::vector<std::string>{"plan", "backend", "add", "web", "w", "10.0.0.1", "--weight=7"}));
  EXPECT_FALSE(read_command_line({"status", "--socket"}));
  EXPECT_EQ(without_option({"a", "--timeout", "5s", "--timeout=5s", "b"}, "timeout", true),
            (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace guideway
