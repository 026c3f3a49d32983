// guideway: the client. Reads the command line, asks the daemon (or answers from files), prints text or JSON.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/client.h"
#include "cli/command_line.h"
#include "cli/input_file.h"
#include "cli/wait.h"
#include "command/exit_codes.h"
#include "command/help.h"
#include "command/json_text.h"
#include "command/offline.h"
#include "command/parser.h"
#include "command/run.h"
#include "command/values.h"
#include "state/quantity.h"

namespace guideway {
namespace {

using nlohmann::json;

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::no_daemon:
      return exit_no_daemon;
    case ErrorKind::timeout:
      return exit_timeout;
    case ErrorKind::in_doubt:
      return exit_in_doubt;
    default:
      return exit_refused;
  }
}

int refuse(const Error& error) {
  fmt::print(stderr, "guideway: {}\n", error.text());
  return exit_code(error.kind);
}

bool changes(const Arguments& arguments) {
  return arguments.command->effect == Effect::change && !arguments.dry_run;
}

// Of a reader that has gone, as `head` does, nothing is said where nothing was changed.
int print(const std::string& text, bool changed = false) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exit_done;
  if (errno == EPIPE && !changed) return exit_no_reader;
  return refuse({ErrorKind::refused,
                 "the answer cannot be written: " + std::error_code(errno, std::generic_category()).message(),
                 "standard output", "the command itself was done"});
}

// A person reads the sentence; a program that asked for JSON finds the same as JSON where it expects the answer.
int refuse(const CommandLine& line, const Error& error) {
  if (line.json) (void)print(json_text(error_json(error)) + "\n");
  return refuse(error);
}

int refuse_in_doubt(const CommandLine& line, Error error) {
  error.kind = ErrorKind::in_doubt;
  error.what += "; the change may or may not be in force";
  error.next =
      "`guideway status` shows the epoch; if it is still the one from before, N, repeat with `--expect-epoch "
      "N`";
  return refuse(line, error);
}

bool wants_color() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// `guideway replay …` is a program of its own, beside this one or on the path.
int replay(char** argv) {
  std::error_code ignored;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "guideway-replay";
  argv[1] = const_cast<char*>("guideway-replay");
  execv(beside.c_str(), argv + 1);
  execvp("guideway-replay", argv + 1);
  return refuse({ErrorKind::refused, "the program guideway-replay is not there", beside.string(),
                 "install it beside guideway or on the PATH"});
}

Result<std::string> socket_of(const CommandLine& line) {
  if (!line.socket.empty()) return line.socket;
  if (line.director.empty()) return DirectorConfig{}.admin_socket;
  const auto director = read_director(line.director);
  if (!director) return tl::unexpected<Error>(director.error());
  return director->admin_socket;
}

const Parameter* file_of(const Arguments& arguments) {
  for (const Parameter& parameter : arguments.command->positionals) {
    if (parameter.kind == Kind::file && arguments.has(parameter.name)) return &parameter;
  }
  return nullptr;
}

bool needs_no_site(const Command& command) {
  return command.reach == Reach::local || command.reach == Reach::client;
}

Result<json> ask_files(const CommandLine& line, const Arguments& arguments) {
  const bool no_site = needs_no_site(*arguments.command);
  auto context =
      no_site ? OfflineContext::without_site(line.director) : OfflineContext::open(line.site, line.director);
  if (!context) return tl::unexpected<Error>(context.error());
  return run_command(**context, arguments);
}

// How many flows are left, on one line of a terminal.
Progress progress_on_terminal() {
  return [](const Left& left) {
    fmt::print(stderr, "\r{}{} left{} \033[K", counted(left.flows, "flow"),
               left.unseen.empty() ? "" : " or more", left.unseen.empty() ? "" : ": " + left.unseen);
    std::fflush(stderr);
  };
}

// What the wait is for, once, where no line can be written over.
Progress progress_in_a_log() {
  return [told = false](const Left& left) mutable {
    if (told || left.unseen.empty()) return;
    told = true;
    fmt::print(stderr, "waiting, since there may be flows that nobody here has counted: {}\n", left.unseen);
  };
}

// Told when a wait is interrupted; made before, since a signal handler may make nothing.
std::string interrupted_text;

extern "C" void tell_interrupted(int signal) {
  (void)!write(STDERR_FILENO, interrupted_text.data(), interrupted_text.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void tell_when_interrupted(const std::string& pool, const std::string& backend) {
  interrupted_text = fmt::format(
      "\nguideway: pool {0}: interrupted; {1} goes on draining; wait again, or take the drain back: "
      "`guideway "
      "backend undrain {0} {1}`\n",
      pool, backend);
  std::signal(SIGINT, tell_interrupted);
}

// A drain, and then the wait for its end. A person sees what has changed before the wait begins.
int drain_and_wait(const CommandLine& line, const Arguments& arguments) {
  const auto socket = socket_of(line);
  if (!socket) return refuse(line, socket.error());
  const Client client(*socket);
  const Ask ask = [&client](const std::vector<std::string>& words) { return client.ask(words, nullptr); };
  const std::string& pool = arguments.at("POOL");
  std::optional<std::chrono::milliseconds> limit;
  if (const auto text = arguments.find("timeout")) limit = *duration_value(*text);
  if (auto possible = can_wait(ask, pool); !possible) return refuse(line, possible.error());
  bool cut = false;
  auto answer =
      client.ask(without_option(without_option(line.words, "wait", false), "timeout", true), nullptr, &cut);
  if (!answer)
    return cut && changes(arguments) ? refuse_in_doubt(line, answer.error()) : refuse(line, answer.error());
  const auto shown = [&] {
    return print(arguments.command->renderer(*answer, wants_color()), changes(arguments));
  };
  if (!line.json)
    if (const int code = shown(); code != exit_done) return code;
  if (arguments.dry_run) return line.json ? print(json_text(*answer) + "\n") : exit_done;
  const bool terminal = isatty(STDERR_FILENO) == 1;
  tell_when_interrupted(pool, arguments.at("NAME"));
  const Progress progress = line.json ? Progress() : terminal ? progress_on_terminal() : progress_in_a_log();
  const auto waited = wait_drained(ask, pool, arguments.at("NAME"), limit, progress);
  if (progress && terminal) fmt::print(stderr, "\r\033[K");
  if (!waited) return refuse(line, waited.error());
  (*answer)["waited_ms"] = waited->count();
  if (line.json) return print(json_text(*answer) + "\n", true);
  return print(fmt::format("its last open flow has ended, after {:.1f} s\n",
                           static_cast<double>(waited->count()) / 1000),
               true);
}

Result<json> ask_daemon(const CommandLine& line, const Arguments& arguments, const std::string* input,
                        bool* cut = nullptr) {
  const auto socket = socket_of(line);
  if (!socket) return tl::unexpected<Error>(socket.error());
  // A change waits for its turn, for the disk and for new backends' neighbours; a question does not.
  return (changes(arguments) ? Client(*socket, std::chrono::seconds(120)) : Client(*socket))
      .ask(line.words, input, cut);
}

int run(const CommandLine& line) {
  std::signal(SIGPIPE, SIG_IGN);  // print() tells
  auto arguments = parse_command(line.words);
  if (!arguments) return refuse(line, arguments.error());
  const Parameter* file = file_of(*arguments);
  if (file != nullptr) {
    auto text = read_input(arguments->at(file->name));
    if (!text) return refuse(line, text.error());
    arguments->input = std::move(*text);
  }
  if (line.site.empty() && arguments->has("wait")) return drain_and_wait(line, *arguments);
  const bool offline = !line.site.empty() || needs_no_site(*arguments->command);
  bool cut = false;
  const auto answer = offline
                          ? ask_files(line, *arguments)
                          : ask_daemon(line, *arguments, file == nullptr ? nullptr : &arguments->input, &cut);
  if (!answer)
    return cut && changes(*arguments) ? refuse_in_doubt(line, answer.error()) : refuse(line, answer.error());
  return print(line.json ? json_text(*answer) + "\n" : arguments->command->renderer(*answer, wants_color()),
               changes(*arguments));
}

// For the shell's completion: the names of one kind, one a line. Words behind the kind are those behind the command's
// object; options say who is asked.
int names(const std::vector<std::string>& typed) {
  auto line = read_command_line(typed);
  if (!line) return exit_usage;
  const std::vector<std::string> words = std::move(line->words);
  const std::string kind = words.size() > 1 ? words[1] : "";
  line->words = {kind, "list"};
  if (kind == "backend" && words.size() > 3) line->words.push_back(words[3]);
  const auto arguments = parse_command(line->words);
  if (!arguments) return exit_usage;
  const auto answer =
      line->site.empty() ? ask_daemon(*line, *arguments, nullptr) : ask_files(*line, *arguments);
  if (!answer || !answer->contains(kind + "s")) return exit_refused;
  std::string out;
  for (const json& entry : answer->at(kind + "s")) out += entry.at("name").get<std::string>() + "\n";
  return print(out);
}

int show_help(const CommandLine& line) {
  std::vector<std::string> words = line.words;
  if (!words.empty() && words.front() == "help") words.erase(words.begin());
  if (words.size() > 1 && words.front() == "plan") words.erase(words.begin());
  if (words.size() > 1) {
    if (const Command* command = find_command(words[0], words[1])) return print(help_text(*command));
  }
  if (words.empty()) return print(help_text());
  std::string out;
  for (const Command& command : commands()) {
    if (command.object == words[0]) out += (out.empty() ? "" : "\n") + help_text(command);
  }
  return print(out.empty() ? help_text() : out);
}

int dispatch(int argc, char** argv) {
  const std::vector<std::string> typed(argv + std::min(argc, 1), argv + argc);
  const std::string first = typed.empty() ? "" : typed.front();
  if (first == "replay") return replay(argv);
  // Used by the build and by the shell, not by people.
  if (first == "--make-man") return print(man_page());
  if (first == "--make-completion") return print(bash_completion());
  if (first == "--names") return names(typed);
  const auto line = read_command_line(typed);
  if (!line) {
    CommandLine wanted;  // the line is not to be read, but whether it asks for JSON is
    wanted.json = std::find(typed.begin(), typed.end(), "--json") != typed.end();
    return refuse(wanted, line.error());
  }
  if (line->version) return print(fmt::format("guideway {}\n", GUIDEWAY_VERSION));
  if (line->help || (!line->words.empty() && line->words.front() == "help")) return show_help(*line);
  return run(*line);
}

}  // namespace
}  // namespace guideway

int main(int argc, char** argv) {
  // The libraries below throw only on exhausted memory or a mistake of ours; a person gets a sentence even so.
  try {
    return guideway::dispatch(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "guideway: failed inside: %s; please report this\n", exception.what());
    return 1;
  }
}
