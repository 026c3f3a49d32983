// The parser: what is accepted, and that each refusal names the word and the next step.
#include "command/parser.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

Result<Arguments> parse(const std::string& line) {
  const auto words = split_words(line);
  if (!words) return tl::unexpected<Error>(words.error());
  return parse_command(*words);
}

struct Accepted {
  const char* line;
  const char* command;
  std::map<std::string, std::string, std::less<>> values;
};

TEST(Parser, AcceptsWhatTheTableSays) {
  const Accepted cases[] = {
      {"status", "status", {}},
      {"health", "health list", {}},
      {"backend", "backend list", {}},
      {"backend list web", "backend list", {{"POOL", "web"}}},
      {"backend drain web web-1 --wait --timeout 30s",
       "backend drain",
       {{"POOL", "web"}, {"NAME", "web-1"}, {"wait", ""}, {"timeout", "30s"}}},
      {"backend add web web-9 fd00::9 --weight=250",
       "backend add",
       {{"POOL", "web"}, {"NAME", "web-9"}, {"ADDRESS", "fd00::9"}, {"weight", "250"}}},
      {"backend add --weight 7 web web-9 10.0.0.9",
       "backend add",
       {{"POOL", "web"}, {"NAME", "web-9"}, {"ADDRESS", "10.0.0.9"}, {"weight", "7"}}},
      {"backend drain -- web -odd", "backend drain", {{"POOL", "web"}, {"NAME", "-odd"}}},
      {"service add dns 203.0.113.0/28 pool --protocol udp --ports 53,8000-8099",
       "service add",
       {{"NAME", "dns"},
        {"ADDRESS", "203.0.113.0/28"},
        {"POOL", "pool"},
        {"protocol", "udp"},
        {"ports", "53,8000-8099"}}},
      {"explain tcp [2001:db8::7]:40000 [2001:db8::10]:443",
       "explain",
       {{"PROTOCOL", "tcp"}, {"SOURCE", "[2001:db8::7]:40000"}, {"DESTINATION", "[2001:db8::10]:443"}}},
      {"pool add web --health http:8080/healthz --rows 251",
       "pool add",
       {{"NAME", "web"}, {"health", "http:8080/healthz"}, {"rows", "251"}}},
      {"apply 'my site.toml'", "apply", {{"FILE", "my site.toml"}}},
  };
  for (const Accepted& one : cases) {
    const auto arguments = parse(one.line);
    ASSERT_TRUE(arguments) << one.line << ": " << arguments.error().text();
    EXPECT_EQ(arguments->command->name(), one.command) << one.line;
    EXPECT_EQ(arguments->values, one.values) << one.line;
  }
}

TEST(Parser, ChangeOptionsAreRead) {
  const auto arguments = parse("backend remove web web-1 --force --dry-run --expect-epoch 7");
  ASSERT_TRUE(arguments);
  EXPECT_TRUE(arguments->force);
  EXPECT_TRUE(arguments->dry_run);
  EXPECT_EQ(arguments->expect_epoch, Epoch{7});
}

TEST(Parser, PlanIsTheCommandItselfDry) {
  const auto arguments = parse("plan backend weight web web-1 50");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->command->name(), "backend weight");
  EXPECT_TRUE(arguments->dry_run);
}

struct RefusedLine {
  const char* line;
  ErrorKind kind;
  const char* part;  // of the sentence
};

TEST(Parser, RefusesWithTheWordAndTheNextStep) {
  const RefusedLine cases[] = {
      {"", ErrorKind::usage, "no command was given"},
      {"statsu", ErrorKind::usage, "did you mean \"status\"?"},
      {"backend drian web web-1", ErrorKind::usage, "did you mean \"drain\"?"},
      {"service --json", ErrorKind::usage, "has no option --json"},
      {"table", ErrorKind::usage, "table needs a verb"},
      {"backend drain web", ErrorKind::usage, "needs NAME"},
      {"backend drain web web-1 now", ErrorKind::usage, "has no use for \"now\""},
      {"backend drain web web-1 --wiat", ErrorKind::usage, "--wait"},
      {"backend drain web web-1 --timeout", ErrorKind::usage, "--timeout needs a value"},
      {"backend drain web web-1 --timeout 5s", ErrorKind::usage, "add --wait"},
      {"drain web web-1", ErrorKind::usage, "did you mean `guideway backend drain`?"},
      {"nonsense", ErrorKind::usage,
       "guideway has status, stats, explain, table, flow, health, service, pool, backend"},
      {"nonsense", ErrorKind::usage, ", replay; see `guideway --help`"},
      {"replya", ErrorKind::usage, "did you mean \"replay\"?"},
      {"status --jsno", ErrorKind::usage, "did you mean \"--json\"?"},
      {"backend drain web web-1 --sokcet x", ErrorKind::usage, "did you mean \"--socket\"?"},
      {"health set web web-1 up --force", ErrorKind::usage, "has no option --force; it has --expect-epoch"},
      {"health set web web-1 up --dry-run", ErrorKind::usage, "has no option --dry-run"},
      {"backend drain web web-1 --timeout soon", ErrorKind::usage, "no duration"},
      {"backend drain web web-1 --wait=yes", ErrorKind::usage, "--wait takes no value"},
      {"backend drain web web-1 --wait --wait", ErrorKind::usage, "stands twice"},
      {"backend list --force", ErrorKind::usage, "has no option --force"},
      {"backend drain we/b web-1", ErrorKind::usage, "\"we/b\" is no name"},
      {"backend add web web-9 10.0.0", ErrorKind::usage, "\"10.0.0\" is no IP address"},
      {"backend weight web web-1 0", ErrorKind::usage, "drain"},
      {"backend weight web web-1 70000", ErrorKind::usage, "weight 70000 is above 65535"},
      {"backend weight web web-1 99999999999999999999", ErrorKind::usage, "is no weight"},
      {"explain tcp 198.51.100.7 203.0.113.10:80", ErrorKind::usage, "198.51.100.7"},
      {"explain tcp 198.51.100.7:1 203.0.113.10:70000", ErrorKind::usage, "203.0.113.10:70000"},
      {"explain tcp 2001:db8::7:1 203.0.113.10:80", ErrorKind::usage, "2001:db8::7:1"},
      {"explain sctp 198.51.100.7:1 203.0.113.10:80", ErrorKind::usage, "\"sctp\" is not known here"},
      {"service add a 203.0.113.0/33 web", ErrorKind::usage, "0 to 32"},
      {"service add a 203.0.113.1 web --ports 80,80", ErrorKind::usage, "port 80 stands twice"},
      {"service add a 203.0.113.1 web --ports 0", ErrorKind::usage, "is no list of ports"},
      {"service add a 203.0.113.1 web --ports 90-80", ErrorKind::usage, "is no list of ports"},
      {"pool add web --health icmp", ErrorKind::usage, "is no health check"},
      {"pool add web --seed 0xg", ErrorKind::usage, "is no seed"},
      {"backend weight web web-1 -5", ErrorKind::usage, "\"-5\" is no weight; use a whole number from 1"},
      {"health set web web-1 sick", ErrorKind::usage, "up, down, auto"},
      {"plan", ErrorKind::usage, "no command to plan"},
      {"plan status", ErrorKind::usage, "changes nothing"},
      {"plan plan undo", ErrorKind::usage, "nothing to plan"},
      {"apply 'x", ErrorKind::usage, "never closed"},
  };
  for (const RefusedLine& one : cases) {
    const auto arguments = parse(one.line);
    ASSERT_FALSE(arguments) << one.line;
    EXPECT_EQ(arguments.error().kind, one.kind) << one.line << ": " << arguments.error().text();
    EXPECT_NE(arguments.error().text().find(one.part), std::string::npos)
        << one.line << ": " << arguments.error().text();
    EXPECT_FALSE(arguments.error().next.empty()) << one.line << ": no next step";
    EXPECT_EQ(arguments.error().text().find('\n'), std::string::npos) << one.line << ": more than one line";
  }
}

TEST(Parser, IsBounded) {
  EXPECT_FALSE(parse_command(std::vector<std::string>(words_max + 1, "plan")));
  EXPECT_FALSE(parse_command(std::vector<std::string>(words_max, "plan")));
  EXPECT_FALSE(parse_command(std::vector<std::string>{"apply", std::string(word_bytes_max + 1, 'a')}));
  EXPECT_FALSE(parse_command(std::vector<std::string>{"apply", std::string("a\0b", 3)}));
  EXPECT_FALSE(parse_command(std::vector<std::string>{"apply", "a\nb"}));
}

TEST(Parser, SplitsWordsLikeAShell) {
  EXPECT_EQ(*split_words("  a  'b c' \"d 'e\"  f''g "), (std::vector<std::string>{"a", "b c", "d 'e", "fg"}));
  EXPECT_EQ(*split_words("''"), (std::vector<std::string>{""}));
  EXPECT_TRUE(split_words("")->empty());
}

}  // namespace
}  // namespace guideway
