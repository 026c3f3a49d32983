// The site as a document: what is read, what is refused and where, and that printing round-trips.
#include "state/site_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sites.h"

namespace guideway {
namespace {

constexpr std::string_view site_sample = R"(hash_seed = "0x5eed"

[[pool]]
name = "web"
health = { type = "http", port = 8080, path = "/healthz", interval = "500ms", timeout = "250ms" }

[[pool.backend]]
name = "web-1"
address = "10.0.1.11"

[[pool.backend]]
name = "web-2"
address = "10.0.1.12"
weight = 7
state = "draining"

[[service]]
name = "www"
address = "203.0.113.10"
protocol = "tcp"
ports = [443, 80, "8000-8099"]
pool = "web"
)";

TEST(SiteFile, ReadsTheSample) {
  const auto parsed = parse_site(site_sample, "site.toml");
  ASSERT_TRUE(parsed) << parsed.error().text();
  const Site& site = parsed->site;
  EXPECT_EQ(site.hash_seed, 0x5eedU);
  ASSERT_EQ(site.pools.size(), 1U);
  const Pool& pool = site.pools[0];
  EXPECT_EQ(pool.rows, 65537U);
  EXPECT_EQ(pool.health.type, HealthCheckType::http);
  EXPECT_EQ(pool.health.interval, std::chrono::milliseconds(500));
  ASSERT_EQ(pool.backends.size(), 2U);
  EXPECT_EQ(pool.backends[0].weight, 100U);
  EXPECT_EQ(pool.backends[1].weight, 7U);
  EXPECT_EQ(pool.backends[1].state, BackendState::draining);
  ASSERT_EQ(site.services.size(), 1U);
  EXPECT_EQ(site.services[0].ports, (std::vector<PortRange>{{80, 80}, {443, 443}, {8000, 8099}}));
  EXPECT_TRUE(parsed->warnings.empty());
}

TEST(SiteFile, WarnsWhoGetsNoRow) {
  std::string text(site_sample);
  text += "[[pool]]\nname = \"small\"\nrows = 251\nseed = 1\n";
  for (int i = 0; i < 260; ++i) {
    text += fmt::format("[[pool.backend]]\nname = \"b{:03}\"\naddress = \"10.1.{}.{}\"\n", i, i / 250,
                        i % 250 + 1);
  }
  const auto parsed = parse_site(text, "site.toml");
  ASSERT_TRUE(parsed) << parsed.error().text();
  ASSERT_FALSE(parsed->warnings.empty());
  EXPECT_NE(parsed->warnings[0].find("pool \"small\": 9 of 260 backends get none of the 251 rows: b251, "
                                     "b252, b253, b254, b255, b256 and 3 "
                                     "more; use more rows"),
            std::string::npos)
      << parsed->warnings[0];
}

// Each case edits the sample: `from` becomes `to`.
struct BadSite {
  const char* description;
  const char* from;
  const char* to;
  const char* message;  // what the message begins with
};

class BadSites : public testing::TestWithParam<BadSite> {};

TEST_P(BadSites, AreRefusedWithTheirPlace) {
  std::string text(site_sample);
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const auto parsed = parse_site(text, "site.toml");
  ASSERT_FALSE(parsed) << GetParam().description;
  EXPECT_TRUE(parsed.error().text().starts_with(GetParam().message)) << parsed.error().text();
  EXPECT_FALSE(parsed.error().next.empty()) << "no next step: " << parsed.error().text();
}

const BadSite bad_sites[] = {
    {"syntax", "name = \"web\"", "name = ", "site.toml:4:"},
    {"weight too large", "weight = 7", "weight = 70000",
     "site.toml:14:10: weight 70000 is above 65535; use 1 to 65535"},
    {"weight 0", "weight = 7", "weight = 0",
     "site.toml:14:10: weight 0 is not a weight; to send no new flows use `guideway backend drain"},
    {"negative weight", "weight = 7", "weight = -7", "site.toml:14:10: weight -7 is below 1; use 1 to 65535"},
    {"weight of the wrong type", "weight = 7", "weight = \"7\"",
     "site.toml:14:10: weight is a string; write an integer from 1 to 65535"},
    {"unknown key", "weight = 7", "weightt = 7",
     "site.toml:14:1: backend has no key \"weightt\"; did you mean \"weight\"?"},
    {"unknown table", "[[service]]", "[[servise]]",
     "site.toml:17:3: the site has no key \"servise\"; did you mean \"service\"?"},
    {"table instead of tables", "[[service]]", "[service]",
     "site.toml:17:1: service is a table; write [[service]]"},
    {"backend twice", "web-2", "web-1",
     "site.toml:12:8: pool \"web\" has two backends \"web-1\"; rename or remove one"},
    {"address twice", "10.0.1.12", "10.0.1.11",
     "site.toml:13:11: address 10.0.1.11 is already that of \"web-1\""},
    {"mixed families", "10.0.1.12", "fd00::12",
     "site.toml:13:11: address fd00::12 is of another family than 10.0.1.11"},
    {"address of a group", "10.0.1.12", "224.0.0.1",
     "site.toml:13:11: address 224.0.0.1 is no host's address"},
    {"address of a service", "10.0.1.12", "203.0.113.10",
     "site.toml:13:11: address 203.0.113.10 belongs to service \"www\""},
    {"no address", "10.0.1.12", "ten", "site.toml:13:11: address \"ten\" is no IPv4 or IPv6 address"},
    {"missing address", "address = \"10.0.1.12\"\n", "",
     "site.toml:11:1: backend has no address; add address"},
    {"address typed wrong", "address = \"10.0.1.12\"", "xaddress = \"10.0.1.12\"",
     "site.toml:13:1: backend has no key \"xaddress\"; did you mean \"address\"?"},
    {"the director's loopback", "10.0.1.12", "127.0.0.1",
     "site.toml:13:11: address 127.0.0.1 is no host's address"},
    {"bad name", "web-2", "web 2", "site.toml:12:8: name \"web 2\" has a character that names cannot have"},
    {"unknown state", "draining", "drained",
     "site.toml:15:9: state \"drained\" is not known; use active, draining or disabled"},
    {"unknown pool", "pool = \"web\"", "pool = \"wed\"",
     "site.toml:22:8: there is no pool \"wed\"; did you mean \"web\"?"},
    {"port 0", "443", "0", "site.toml:21:10: port 0 is below 1"},
    {"port too large", "443", "70000", "site.toml:21:10: port 70000 is above 65535"},
    {"port twice", "443", "8000", "site.toml:21:9: port 8000 is named twice"},
    {"range backwards", "8000-8099", "8099-8000",
     "site.toml:21:9: range 8099-8000 runs backwards; write 8000-8099"},
    {"no range", "8000-8099", "8000+99", "site.toml:21:19: this is no port or range of ports"},
    {"no ports", "[443, 80, \"8000-8099\"]", "[]", "site.toml:21:9: ports is empty"},
    {"host bits", "203.0.113.10", "203.0.113.10/24",
     "site.toml:19:11: address 203.0.113.10/24 has bits behind its prefix; write 203.0.113.0/24"},
    {"prefix too long", "203.0.113.10", "203.0.113.10/33", "site.toml:19:11: the prefix length is no number"},
    {"unknown protocol", "\"tcp\"", "\"sctp\"",
     "site.toml:20:12: protocol \"sctp\" is not known; use tcp or udp"},
    {"interval without unit", "\"500ms\"", "\"500\"", "site.toml:5:70: interval \"500\" is no span of time"},
    {"timeout above interval", "\"250ms\"", "\"1s\"",
     "site.toml:5:89: timeout 1s does not fit interval 500ms"},
    {"http without port", "port = 8080, ", "", "site.toml:5:10: the health check has no port"},
    {"rows no prime", "name = \"web\"\n", "name = \"web\"\nrows = 65536\n",
     "site.toml:5:8: rows 65536 is no prime; use 65521 or 65537"},
    {"rows too few", "name = \"web\"\n", "name = \"web\"\nrows = 7\n", "site.toml:5:8: rows 7 is below 251"},
    {"through the tunnel", "port = 8080", "through_tunnel = true, port = 8080",
     "site.toml:5:44: health checks through the tunnel are not built yet"},
    {"hex seed of 17 digits", "0x5eed", "0x12345678123456781",
     "site.toml:1:13: hash_seed is no 64-bit hex string"},
    {"hex seed with a sign", "0x5eed", "0x-5eed", "site.toml:1:13: hash_seed is no 64-bit hex string"},
    {"negative seed", "\"0x5eed\"", "-1", "site.toml:1:13: hash_seed -1 is below 0"},
    {"timeout out of range", "name = \"web\"\n", "name = \"web\"\ntimeouts = { udp = \"1ms\" }\n",
     "site.toml:5:20: timeout udp of 1ms is out of range"},
    {"panic is no share", "name = \"web\"\n", "name = \"web\"\npanic = nan\n",
     "site.toml:5:9: panic nan is no share"},
};

INSTANTIATE_TEST_SUITE_P(Site, BadSites, testing::ValuesIn(bad_sites));

TEST(SiteFile, NamesTheTopmostMistake) {
  std::string text(site_sample);
  text.replace(text.find("weight = 7"), 10, "weight = 0");
  text.replace(text.find("\"0x5eed\""), 8, "true");
  EXPECT_EQ(parse_site(text, "s").error().where, "s:1:13");
}

TEST(SiteFile, TheRowsOfAllPoolsTogetherAreBounded) {
  const auto site_of = [](int pools) {
    std::string text;
    for (int i = 0; i < pools; ++i) text += fmt::format("[[pool]]\nname = \"p{}\"\nrows = 5000011\n", i);
    return parse_site(text, "site.toml");
  };
  EXPECT_TRUE(site_of(3));
  const auto refused = site_of(4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().text(),
      "site.toml:12:8: the pools up to this one have 20,000,044 rows together, above 20,000,000; use fewer "
      "rows: 100 for each backend of a pool are plenty");
}

TEST(SiteFile, TwoServicesCannotClaimOnePort) {
  const std::string text = std::string(site_sample) +
                           "\n[[service]]\nname = \"alt\"\naddress = \"203.0.113.10\"\nprotocol = \"tcp\"\n"
                           "ports = [443]\npool = \"web\"\n";
  EXPECT_EQ(
      parse_site(text, "s").error().text(),
      "s:28:9: tcp 203.0.113.10 port 443 belongs to service \"www\" already; take it out of one of the two");
}

TEST(SiteFile, MoreSpecificClaimsStandSideBySide) {
  std::string text(site_sample);
  for (const char* ports : {"\"any\"", "[8001]"})
    text += fmt::format(
        "\n[[service]]\nname = \"s{}\"\naddress = \"203.0.113.10\"\nprotocol = \"tcp\"\nports = {}\npool = "
        "\"web\"\n",
        text.size(), ports);
  EXPECT_TRUE(parse_site(text, "s"));
}

TEST(SiteFile, WarnsWithoutASeed) {
  const auto parsed = parse_site(std::string_view(site_sample).substr(site_sample.find('\n')), "s");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->warnings.size(), 1U);
  EXPECT_TRUE(parsed->warnings[0].starts_with("s: hash_seed is absent: ")) << parsed->warnings[0];
}

TEST(SiteFile, AnEmptyDocumentIsAnEmptySite) {
  const auto parsed = parse_site("", "s");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->site, Site{});
}

TEST(SiteFile, AMissingFileIsNamed) {
  EXPECT_EQ(read_site("/nowhere/site.toml").error().where, "/nowhere/site.toml");
}

TEST(SiteFile, PrintedSitesParseBackEqual) {
  EXPECT_TRUE(rc::check("print, parse", [] {
    const Site site = sites::any_valid();
    const std::string text = print_site(site);
    const auto parsed = parse_site(text, "printed");
    if (!parsed) RC_FAIL(parsed.error().text() + "\n" + text);
    RC_ASSERT(parsed->site == site);
  }));
}

TEST(SiteFile, HostileBytesAreRefusedNotCrashedOn) {
  EXPECT_TRUE(rc::check("one byte changed", [] {
    std::string text(site_sample);
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto parsed = parse_site(text, "s");
    if (!parsed) RC_ASSERT(parsed.error().where.starts_with("s:"));
  }));
}

// Each part of a dotted key is a table inside the one before: built and taken down by recursion.
TEST(SiteFile, KeysOfManyPartsAreRefusedUnread) {
  std::string deep;
  for (int part = 0; part < 100'000; ++part) deep += "a.";
  for (const std::string& document :
       {deep + "a = 1", "[" + deep + "a]", "[[" + deep + "a]]", "x = { b = 1, " + deep + "a = 1 }",
        "x = { b = \"\"\"\n# \"\"\", " + deep + "a = 1 }", "x = [ { c = '\\', " + deep + "a = 1 } ]",
        "x = { d = \"\"\"\\\"\"\"\"\"\", " + deep + "a = 1 }"}) {
    const auto parsed = parse_site("\n" + document, "site.toml");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().what, "a key has more than 64 parts with dots between them");
    EXPECT_EQ(parsed.error().where.substr(0, 10), "site.toml:");
  }
}

TEST(SiteFile, DotsInStringsAndCommentsAreNoParts) {
  const std::string dots(1000, '.');
  const auto parsed = parse_site("# " + dots + "\nhash_seed = \"" + dots + "\"  # \" " + dots + "\n" +
                                     std::string(site_sample.substr(site_sample.find('\n'))),
                                 "site.toml");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().where.substr(0, 12), "site.toml:2:") << parsed.error().text();
}

TEST(SiteFile, WhatANameHoldsReachesNoTerminal) {
  const auto named = parse_site("[[pool]]\nname = \"b\\n2\\u001b[31m\"\n", "site.toml");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().what, "name \"b?2?[31m\" has a character that names cannot have");
  const auto referred = parse_site(
      std::string(site_sample).replace(site_sample.rfind("web"), 3, "b\\n2\\u001b[31m"), "site.toml");
  ASSERT_FALSE(referred);
  EXPECT_EQ(referred.error().what, "there is no pool \"b?2?[31m\"");
}

TEST(SiteFile, EachKnownKeyIsNamedOnce) {
  const auto parsed = parse_site("[[pool]]\nname = \"web\"\ncolour = 1\n", "site.toml");
  ASSERT_FALSE(parsed);
  const std::string said = parsed.error().text();
  EXPECT_EQ(said.find("name, name"), std::string::npos) << said;
}

}  // namespace
}  // namespace guideway
