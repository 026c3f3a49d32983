// The table's own words: every command has its help, the man page is good roff, the completion completes.
#include "command/help.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

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
  explicit Scratch(const std::string& text) { std::ofstream(path_) << text; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "guideway-help-" + std::to_string(getpid());
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

TEST(Help, TheCompletionCompletes) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  const Scratch script(bash_completion());
  EXPECT_EQ(output_of("bash -n " + script.path() + " 2>&1"), "");
  struct Case {
    const char* words;  // the last one is being typed
    const char* offered;
  };
  const Case cases[] = {
      {"guideway back", "backend"},
      {"guideway backend dr", "drain"},
      {"guideway plan backend und", "undrain"},
      {"guideway backend drain web ''", "web-1"},
      {"guideway backend drain w", "web"},
      {"guideway backend drain web web-1 --w", "--wait"},
      {"guideway health set web web-1 d", "down"},
      {"guideway explain t", "tcp"},
  };
  for (const Case& one : cases) {
    const std::string run =
        "bash -c '. " + script.path() +
        "; _guideway_names() { case $1 in pool) echo web ;; backend) echo web-1 ;; esac; };"
        " COMP_WORDS=($0); [[ ${COMP_WORDS[-1]} == \"\\x27\\x27\" ]] && COMP_WORDS[-1]=;"
        " COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _guideway; echo \"${COMPREPLY[@]}\"' \"" +
        std::string(one.words) + "\"";
    const std::string offered = output_of(run);
    EXPECT_NE((" " + offered).find(" " + std::string(one.offered)), std::string::npos)
        << one.words << " offers \"" << offered << "\"";
  }
}

}  // namespace
}  // namespace guideway
