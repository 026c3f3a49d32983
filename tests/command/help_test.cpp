// The table's own words: every command has its help, the man page is good roff, the completion completes.
#include "command/help.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace guideway {
namespace {

// What a shell command prints.
std::string output_of(const std::string& line) {
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

class Scratch {
 public:
  explicit Scratch(const std::string& text, const std::string& name = "text")
      : path_(testing::TempDir() + "guideway-help-" + std::to_string(getpid()) + "-" + name) {
    std::ofstream(path_) << text;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Table, EveryCommandIsWhole) {
  std::set<std::string> names;
  for (const Command& command : commands()) {
    const std::string name = command.name();
    EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    EXPECT_FALSE(command.help.empty()) << name;
    const bool plan = name == "plan";
    EXPECT_EQ(command.handler == nullptr, plan) << name;
    EXPECT_EQ(command.renderer == nullptr, plan) << name;
    EXPECT_TRUE(command.resource.empty() || command.effect == Effect::read)
        << name << ": GET changes nothing";
    bool optional_seen = false;
    for (const Parameter& parameter : command.positionals) {
      EXPECT_FALSE(parameter.help.empty()) << name << " " << parameter.name;
      EXPECT_FALSE(optional_seen && !parameter.optional) << name << ": a must behind a may";
      optional_seen = parameter.optional;
    }
    for (const Parameter& option : command.options)
      EXPECT_FALSE(option.help.empty()) << name << " " << option.name;
  }
}

TEST(Help, NamesEveryCommandAndEveryOption) {
  const std::string all = help_text();
  for (const Command& command : commands()) {
    EXPECT_NE(all.find(command.name()), std::string::npos) << command.name();
    const std::string one = help_text(command);
    for (const Parameter& option : command.options) {
      EXPECT_NE(one.find("--" + std::string(option.name)), std::string::npos) << command.name();
    }
  }
}

TEST(Help, TheManPageIsGoodRoff) {
  if (!installed("groff")) GTEST_SKIP() << "groff is not installed";
  const Scratch page(man_page());
  EXPECT_EQ(output_of("groff -man -Tutf8 -ww -z " + page.path() + " 2>&1"), "");
  const std::string text = output_of("groff -man -Tascii -P-cbou " + page.path());
  for (const Command& command : commands())
    EXPECT_NE(text.find(command.name()), std::string::npos) << command.name();
}

TEST(Help, OffersACommandOnlyWhatItTakes) {
  const std::string set = help_text(*find_command("health", "set")),
                    drain = help_text(*find_command("backend", "drain"));
  for (const char* option : {"--force", "--dry-run"}) {
    EXPECT_EQ(set.find(option), std::string::npos) << set;
    EXPECT_NE(drain.find(option), std::string::npos) << drain;
  }
  EXPECT_NE(set.find("--expect-epoch"), std::string::npos) << set;
}

TEST(Help, TheCompletionCompletes) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  const Scratch script(bash_completion());
  EXPECT_EQ(output_of("bash -n " + script.path() + " 2>&1"), "");
  if (installed("shellcheck")) {
    EXPECT_EQ(output_of("shellcheck -s bash " + script.path() + " 2>&1"), "");
  }
  struct Case {
    const char* line;
    const char* offered;   // among others
    const char* withheld;  // nothing of this; nullptr: does not matter
  };
  const Case cases[] = {
      {"guideway back", "backend", "pool"},
      {"guideway ", "replay", "--json"},
      {"guideway --", "--socket", "backend"},
      {"guideway backend dr", "drain", "undrain"},
      {"guideway backend drain ", "web", "web-1"},
      {"guideway backend drain w", "web", nullptr},
      {"guideway backend drain web ", "web-1", nullptr},
      {"guideway backend drain web web-1 ", nullptr, "web"},
      {"guideway backend drain web web-1 --w", "--wait", nullptr},
      {"guideway backend drain web web-1 --timeout 10s --", "--force", nullptr},
      {"guideway backend drain --timeout 10s web ", "web-1", "web"},
      {"guideway backend drain --wait web ", "web-1", "web"},
      {"guideway --json backend drain ", "web", "drain"},
      {"guideway --socket /run/a.sock back", "backend", nullptr},
      {"guideway backend drain ", "web", "far"},
      {"guideway --socket /run/far.sock backend drain ", "far", "web"},
      {"guideway backend drain --socket=/run/far.sock ", "far", "web"},
      {"guideway --site far.toml backend drain far ", "far", nullptr},
      {"guideway backend add web b4 10.0.0.4 --state ", "draining", "web"},
      {"guideway backend add web b4 10.0.0.4 --state=dr", "draining", "active"},
      {"guideway backend add web b4 10.0.0.4 --state=draining --w", "--weight", nullptr},
      {"guideway backend add web b4 10.0.0.4 --weight ", nullptr, "web"},
      {"guideway pool add web --encapsulation g", "gue", "l2"},
      {"guideway health set web web-1 d", "down", "up"},
      {"guideway explain t", "tcp", "udp"},
      {"guideway explain tcp 198.51.100.7:40000 203.0.113.10:80 --j", "--json", nullptr},
      {"guideway plan ", "backend", "status"},
      {"guideway plan ", "apply", "check"},
      {"guideway plan backend ", "undrain", "list"},
      {"guideway plan backend und", "undrain", nullptr},
      {"guideway plan backend drain web ", "web-1", "web"},
      {"guideway table ", "digest", "drain"},
      {"guideway apply /etc/host", "/etc/hosts", nullptr},
      {"guideway --site /etc/host", "/etc/hosts", nullptr},
      {"guideway replay --in /etc/host", "/etc/hosts", nullptr},
  };
  std::string lines;
  for (const Case& one : cases) lines += std::string(one.line) + "\n";
  const Scratch typed(lines, "typed");
  const std::string offered =
      output_of("bash -c '. " + script.path() +
                "; guideway() { [[ $* == *=*far.* ]] && echo far && return; case $2 in pool) echo web ;; "
                "backend) echo web-1 ;; esac; };"
                " while IFS= read -r COMP_LINE; do COMP_POINT=${#COMP_LINE}; COMPREPLY=(); _guideway;"
                " echo \" ${COMPREPLY[*]} \"; done <" +
                typed.path() + "'");
  std::istringstream answers(offered);
  for (const Case& one : cases) {
    std::string words;
    ASSERT_TRUE(std::getline(answers, words)) << one.line << " ends the shell";
    const auto has = [&](const char* word) { return words.find(fmt::format(" {} ", word)) != words.npos; };
    EXPECT_TRUE(one.offered == nullptr || has(one.offered)) << one.line << "| offers" << words;
    EXPECT_TRUE(one.withheld == nullptr || !has(one.withheld)) << one.line << "| offers" << words;
  }
}

// The completion knows an option by its name alone.
TEST(Table, AnOptionOfOneNameMeansTheSameEverywhere) {
  std::map<std::string_view, std::pair<Kind, std::string_view>> seen;
  const auto look = [&](std::span<const Parameter> options) {
    for (const Parameter& option : options) {
      const auto [first, fresh] = seen.emplace(option.name, std::pair(option.kind, option.value));
      EXPECT_EQ(first->second.first, option.kind) << option.name;
      EXPECT_TRUE(option.kind != Kind::word || first->second.second == option.value) << option.name;
    }
  };
  for (const Command& command : commands()) look(command.options);
  look(change_options());
  look(program_options());
}

}  // namespace
}  // namespace guideway
