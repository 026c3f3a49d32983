// Offline: check, and the verbs that work on files.
#include "command/offline.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fake_director.h"
#include "state/site_file.h"

namespace guideway {
namespace {

using nlohmann::json;

class OfflineTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "guideway-offline-" + std::to_string(getpid()) + "-" + name;
    std::ofstream(path) << text;
    written_.push_back(path);
    return path;
  }
  void TearDown() override {
    for (const std::string& path : written_) std::remove(path.c_str());
  }
  static Result<json> ask(Context& context, const std::string& line, const std::string& input = {}) {
    auto arguments = parse_command(*split_words(line));
    if (!arguments) return tl::unexpected<Error>(arguments.error());
    arguments->input = input;
    return run_command(context, *arguments);
  }

 private:
  std::vector<std::string> written_;
};

TEST_F(OfflineTest, AFileAnswersAsADirectorWould) {
  const auto context = OfflineContext::open(write("site.toml", print_site(small_site())), "");
  ASSERT_TRUE(context) << context.error().text();
  FakeDirector director;
  for (const std::string line :
       {"table show web", "table digest", "backend list", "pool list", "service list", "site export",
        "plan backend drain web web-1", "explain tcp 198.51.100.7:40000 203.0.113.10:443"}) {
    auto offline = ask(**context, line);
    ASSERT_TRUE(offline) << line << ": " << offline.error().text();
    json live = *director(line);
    if (line.starts_with("explain")) {
      EXPECT_EQ((*offline)["assumed_source"], true);
      EXPECT_EQ(live["assumed_source"], false);
      live["assumed_source"] = true;
    }
    EXPECT_EQ(*offline, live) << line;
  }
}

TEST_F(OfflineTest, AFileIsNotChanged) {
  const auto context = OfflineContext::open(write("site.toml", print_site(small_site())), "");
  ASSERT_TRUE(context);
  const auto refused = ask(**context, "backend drain web web-1");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().next.find("plan"), std::string::npos);
}

TEST_F(OfflineTest, FilesThatAreNotThere) {
  EXPECT_FALSE(OfflineContext::open("/nonexistent/site.toml", ""));
  EXPECT_FALSE(
      OfflineContext::open(write("site.toml", print_site(small_site())), "/nonexistent/director.toml"));
}

TEST_F(OfflineTest, AFileHasNothingToGoBackTo) {
  const auto context = OfflineContext::open(write("site.toml", print_site(small_site())), "");
  ASSERT_TRUE(context) << context.error().text();
  for (const char* line : {"undo", "plan undo"}) {
    const auto refused = ask(**context, line);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().what,
              line[0] == 'p' ? "a file has no version before this one" : "a file is not changed by commands");
    EXPECT_NE(refused.error().next.find("leave out --site"), std::string::npos) << refused.error().text();
  }
}

TEST_F(OfflineTest, CheckAnswersWithWhatItFound) {
  const auto context = OfflineContext::without_site("");
  ASSERT_TRUE(context);
  Site site = small_site();
  site.pools.erase(site.pools.size() - 1);  // the pool that no service uses
  const auto good = ask(**context, "check site.toml", print_site(site));
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ((*good)["backends"], 3);
  EXPECT_EQ(text_of("check site.toml", *good), "site.toml: a good site: 1 service, 1 pool, 3 backends\n");
  EXPECT_EQ((*good)["overlaps"], json::array());
  Site overlapping = site;
  Service wide = site.services.front();
  wide.name = "wide";
  wide.ports.clear();
  overlapping.services.push_back(wide);
  const auto told = ask(**context, "check site.toml", print_site(overlapping));
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_EQ((*told)["overlaps"], json::array({json{{"service", "www"},
                                                   {"over", "wide"},
                                                   {"address", "203.0.113.10"},
                                                   {"protocol", "tcp"},
                                                   {"ports", "80,443"}}}));
  EXPECT_NE(
      text_of("check site.toml", *told).find("tcp 203.0.113.10 port 80,443: \"www\" wins over \"wide\"\n"),
      std::string::npos);
  Site unseeded = site;
  unseeded.hash_seed.reset();
  const auto warned = ask(**context, "check site.toml", print_site(unseeded));
  ASSERT_TRUE(warned);
  EXPECT_NE(text_of("check site.toml", *warned).find("warning: "), std::string::npos);
}

TEST_F(OfflineTest, CheckNamesLineAndColumn) {
  const auto context = OfflineContext::without_site("");
  std::string text = print_site(small_site());
  const std::size_t at = text.find("10.0.1.12");
  ASSERT_NE(at, std::string::npos);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  text.replace(at, 9, "10.0.1.300");
  const auto bad = ask(**context, "check site.toml", text);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where.rfind("site.toml:" + std::to_string(line) + ":", 0), 0U) << bad.error().text();
}

TEST_F(OfflineTest, CheckKnowsADirectorFile) {
  const auto context = OfflineContext::without_site("");
  const auto good =
      ask(**context, "check director.toml",
          "[director]\nsource_ipv4 = \"10.0.0.2\"\n[[port]]\nname = \"wan\"\ndevice = \"null\"\n");
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ((*good)["kind"], "director");
  EXPECT_FALSE(ask(**context, "check director.toml", "[director]\nsource_ipv5 = \"10.0.0.2\"\n"));
}

TEST_F(OfflineTest, CheckAgainstADirectorWhoseSourceIsABackend) {
  const std::string director =
      write("director.toml",
            "[director]\nsource_ipv4 = \"10.0.1.12\"\n[[port]]\nname = \"wan\"\ndevice = \"null\"\n");
  const auto context = OfflineContext::without_site(director);
  ASSERT_TRUE(context) << context.error().text();
  const auto refused = ask(**context, "check site.toml", print_site(small_site()));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("the director's own source"), std::string::npos)
      << refused.error().text();
}

TEST_F(OfflineTest, CheckAgainstADirectorWithoutTheBackendsFamily) {
  const std::string director =
      write("director.toml",
            "[director]\nsource_ipv6 = \"fd00::2\"\n[[port]]\nname = \"wan\"\ndevice = \"null\"\n");
  const auto context = OfflineContext::without_site(director);
  ASSERT_TRUE(context) << context.error().text();
  const auto refused = ask(**context, "check site.toml", print_site(small_site()));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("source_ipv4"), std::string::npos) << refused.error().text();
}

TEST_F(OfflineTest, CheckWarnsOfAnMtuThatIpv6DoesNotGoBelow) {
  Site site = small_site();
  site.services.edit(0).address = IpAddress::parse("2001:db8:2::10").value();
  site.services.edit(0).prefix_length = 128;
  const struct {
    const char* description;
    int mtu;
    Site site;
    bool warns;
  } cases[] = {
      {"1,280 bytes behind the wrapping", 1324, site, false},
      {"1,279 bytes", 1323, site, true},
      {"an IPv4 service", 1323, small_site(), false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.description);
    const std::string director =
        write("director.toml",
              "[director]\nsource_ipv4 = \"10.0.0.2\"\n[[port]]\nname = \"lan\"\ndevice = \"null\"\nmtu = " +
                  std::to_string(one.mtu) + "\n");
    const auto context = OfflineContext::without_site(director);
    ASSERT_TRUE(context) << context.error().text();
    const auto answer = ask(**context, "check site.toml", print_site(one.site));
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->at("warnings").dump().find("set mtu to 1324 or more") != std::string::npos, one.warns)
        << answer->at("warnings");
  }
}

}  // namespace
}  // namespace guideway
