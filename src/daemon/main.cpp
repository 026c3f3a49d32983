// guidewayd: the director.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>

#include "daemon/daemon.h"
#include "daemon/options.h"
#include "daemon/signals.h"
#include "state/director_config.h"
#include "state/director_fit.h"
#include "state/site_file.h"

namespace guideway {
namespace {

struct Files {
  DirectorConfig director;
  std::optional<Site> site;
};

Result<Files> read_files(const DaemonOptions& options) {
  Files out;
  auto director = read_director(options.director);
  if (!director) return tl::unexpected(director.error());
  out.director = std::move(*director);
  if (options.site.empty()) return out;
  auto site = read_site(options.site);
  if (!site) return tl::unexpected(site.error());
  for (const auto& warning : site->warnings) spdlog::warn(warning);
  out.site = std::move(site->site);
  return out;
}

// The log goes to stdout; stderr is for the one sentence that says why there is no daemon.
void set_up_log(const DaemonOptions& options) {
  spdlog::set_default_logger(spdlog::stdout_color_mt("guidewayd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %l: %v");
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  spdlog::flush_on(spdlog::level::info);
}

Result<void> run(const DaemonOptions& options) {
  auto signals = Signals::block();
  if (!signals) return tl::unexpected(signals.error());
  auto files = read_files(options);
  if (!files) return tl::unexpected(files.error());
  if (options.check) {
    if (files->site)
      if (auto good = check_fit(*files->site, files->director); !good) return good;
    fmt::print("{}{}{}: good\n", options.director, options.site.empty() ? "" : ", ", options.site);
    return {};
  }
  auto daemon = Daemon::start(files->director, files->site, *signals);
  if (!daemon) return tl::unexpected(daemon.error());
  const auto ended = (*daemon)->serve();
  if (!ended) return tl::unexpected(ended.error());
  spdlog::info(fmt::format("{}: ending", *ended));
  return {};
}

}  // namespace
}  // namespace guideway

int main(int argc, char** argv) try {
  int exit_code = 0;
  const auto options = guideway::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  guideway::set_up_log(*options);
  if (const auto done = guideway::run(*options); !done) {
    fmt::print(stderr, "guidewayd: {}\n", done.error().text());
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "guidewayd: {}; this is a fault of the program, please report it\n", error.what());
  return 1;
}
