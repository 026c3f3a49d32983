// Settings and prefixes: what operators write, and what they are told when it is wrong.
#include "agent/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace guideway::agent {
namespace {

TEST(Prefix, ReadsAndPrints) {
  struct Case {
    std::string description, in, out;  // out empty: refused
  };
  const std::vector<Case> cases = {
      {"an address", "10.0.0.2", "10.0.0.2"},
      {"an address with its full length", "10.0.0.2/32", "10.0.0.2"},
      {"a network", "10.0.0.0/8", "10.0.0.0/8"},
      {"everything", "0.0.0.0/0", "0.0.0.0/0"},
      {"IPv6", "fd00::2", "fd00::2"},
      {"an IPv6 network", "fd00::/64", "fd00::/64"},
      {"an odd length", "203.0.113.8/29", "203.0.113.8/29"},
      {"bits behind the length", "10.0.0.2/8", ""},
      {"bits behind an odd length", "203.0.113.12/29", ""},
      {"a length too long", "10.0.0.0/33", ""},
      {"no digits", "10.0.0.0/", ""},
      {"a sign", "10.0.0.0/-1", ""},
      {"a name", "localhost", ""},
      {"nothing", "", ""},
      {"a blank", "10.0.0.0/8 ", ""},
      {"all of today's IPv6", "2000::/3", "2000::/3"},
      {"beside the mapped addresses", "::/97", "::/97"},
      {"a mapped IPv4 address", "::ffff:10.0.0.2", ""},
      {"mapped IPv4 addresses", "::ffff:10.0.0.0/104", ""},
      {"all IPv6 addresses, the mapped ones among them", "::/0", ""},
      {"a prefix around the mapped ones", "::/64", ""},
  };
  for (const Case& c : cases) {
    const auto prefix = parse_prefix(c.in);
    ASSERT_EQ(prefix.has_value(), !c.out.empty()) << c.description;
    if (!prefix) {
      EXPECT_FALSE(prefix.error().next.empty()) << c.description;
      continue;
    }
    EXPECT_EQ(prefix->text(), c.out) << c.description;
    EXPECT_EQ(prefix_of(map_key(*prefix)), *prefix) << c.description;
  }
}

TEST(Prefix, Covers) {
  const auto covers = [](const char* a, const char* b) { return parse_prefix(a)->covers(*parse_prefix(b)); };
  EXPECT_TRUE(covers("10.0.0.0/8", "10.1.2.3"));
  EXPECT_TRUE(covers("203.0.113.8/29", "203.0.113.15"));
  EXPECT_FALSE(covers("203.0.113.8/29", "203.0.113.16"));
  EXPECT_FALSE(covers("10.1.2.3", "10.0.0.0/8"));
  EXPECT_FALSE(covers("0.0.0.0/0", "fd00::1"));
  EXPECT_TRUE(covers("fc00::/7", "fd00::1"));
}

class SettingsFile : public testing::Test {
 protected:
  Result<Settings> read(const std::string& text) {
    path_ = testing::TempDir() + "/agent.toml";
    std::ofstream(path_) << text;
    return read_settings_file(path_);
  }
  std::string path_;
};

TEST_F(SettingsFile, ReadsAllKeys) {
  const auto settings = read(
      "interface = \"eth1\"\ndirectors = [\"10.0.0.3\", \"10.0.0.2\", \"10.0.0.2\"]\npeers = "
      "\"10.0.0.0/24\"\n"
      "services = [\"203.0.113.10\"]\nlocal = [\"10.0.0.11\"]\nmode = \"generic\"\nudp_port = 6080\n");
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->interface, "eth1");
  ASSERT_EQ(settings->directors->size(), 2u) << "sorted, without repeats";
  EXPECT_EQ(settings->directors->front().text(), "10.0.0.2");
  EXPECT_EQ(settings->peers->front().text(), "10.0.0.0/24");
  EXPECT_EQ(settings->mode, Mode::generic);
  EXPECT_EQ(settings->udp_port, 6080);
}

TEST_F(SettingsFile, SaysWhereItIsWrong) {
  struct Case {
    std::string description, text, where;
  };
  const std::vector<Case> cases = {
      {"unknown key", "\n  zzz = [\"10.0.0.2\"]\n", ":2:3"},
      {"no TOML", "peers = [\n", ":"},
      {"no list", "peers = 7\n", ":1:"},
      {"a number in the list", "peers = [7]\n", ":1:"},
      {"no address", "local = [\"eth0\"]\n", ":1:"},
      {"port out of range", "udp_port = 70000\n", ":1:"},
      {"port as text", "udp_port = \"19523\"\n", ":1:"},
      {"a key of many parts", "\n" + std::string(200'000, '.') + "a = 1\n", ":2"},
      {"no mode", "mode = \"fast\"\n", ":1:"},
  };
  for (const Case& c : cases) {
    const auto settings = read(c.text);
    ASSERT_FALSE(settings) << c.description;
    EXPECT_TRUE(settings.error().where.starts_with(path_ + c.where))
        << c.description << ": " << settings.error().text();
    EXPECT_FALSE(settings.error().what.empty()) << c.description;
    EXPECT_FALSE(settings.error().next.empty()) << c.description;
  }
}

TEST_F(SettingsFile, AnOptionsNameLeadsToTheKeys) {
  struct Case {
    const char *word, *advice;
  };
  for (const Case& c :
       {Case{"director", "did you mean \"directors\"?"}, Case{"service", "did you mean \"services\"?"},
        Case{"locals", "did you mean \"local\"?"}, Case{"udp-port", "did you mean \"udp_port\"?"},
        Case{"color", "known keys: interface, directors, peers, services, local, mode, udp_port"}}) {
    const auto settings = read(std::string(c.word) + " = 1\n");
    ASSERT_FALSE(settings) << c.word;
    EXPECT_EQ(settings.error().next, c.advice);
    EXPECT_EQ(settings.error().where, path_ + ":1:1");
  }
}

TEST_F(SettingsFile, MissingFile) {
  const auto settings = read_settings_file("/nowhere/agent.toml");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().where, "/nowhere/agent.toml");
}

// As `--config <(…)` has it; tests/toml holds that nobody waits for one without a writer for ever.
TEST_F(SettingsFile, APipeWillDo) {
  const std::string pipe = testing::TempDir() + "/agent.pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "mode = \"native\"\n"; });
  const auto settings = read_settings_file(pipe);
  writer.join();
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->mode, Mode::native);
}

TEST(Settings, TheCommandLineWins) {
  Settings file, line;
  file.udp_port = 1;
  file.interface = "eth0";
  line.udp_port = 2;
  const Settings both = merged(file, line);
  EXPECT_EQ(both.udp_port, 2);
  EXPECT_EQ(both.interface, "eth0");
}

}  // namespace
}  // namespace guideway::agent
