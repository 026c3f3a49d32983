// guideway-replay: what a director would have done with a capture.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/packet_memory.h"
#include "replay/at_command.h"
#include "replay/options.h"
#include "replay/report.h"
#include "state/site_file.h"

namespace guideway {
namespace {

Result<void> write_report(const std::string& path, const nlohmann::json& report) {
  const std::string text = report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
    return {};
  }
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    return fail(ErrorKind::refused, "cannot be written", path,
                "choose a place for --report that you may write to");
  return {};
}

Result<void> run(const ReplayOptions& options) {
  if (auto apart = check_files(options); !apart) return apart;
  auto site = read_site(options.site);
  if (!site) return tl::unexpected(site.error());
  DirectorConfig config = replay_defaults();
  if (!options.director.empty()) {
    auto read = read_director(options.director);
    if (!read) return tl::unexpected(read.error());
    config = std::move(*read);
  }
  auto capture = Capture::open(options.in);
  if (!capture) return tl::unexpected(capture.error());
  auto memory = PacketMemory::start();
  if (!memory) return tl::unexpected(memory.error());
  auto director = ReplayDirector::start(std::move(site->site), std::move(config), memory->mbufs());
  if (!director) return tl::unexpected(director.error());
  std::optional<CaptureWriter> out;
  if (!options.out.empty()) {
    auto created = CaptureWriter::create(options.out);
    if (!created) return tl::unexpected(created.error());
    out.emplace(std::move(*created));
  }

  Audit audit;
  const ReplayParts parts{
      **director,
      *capture,
      out ? &*out : nullptr,
      audit,
      [&](std::span<const std::uint8_t> bytes) { return memory->make(bytes); },
      [&](const std::string& line, std::chrono::milliseconds now) { return run_at(**director, line, now); }};
  auto result = replay(parts, options.at);
  if (!result) return tl::unexpected(result.error());
  if (out)
    if (auto finished = out->finish(); !finished) return finished;
  for (const AtCommand& command : result->not_reached)
    fmt::print(stderr, "guideway-replay: the capture ended before packet {}: {} was not run\n",
               command.packet, command.line);
  const nlohmann::json report = report_json(*result, **director, audit.report(), capture->link_type());
  if (options.report.empty()) {
    std::fputs(report_text(report).c_str(), stdout);
    return {};
  }
  return write_report(options.report, report);
}

}  // namespace
}  // namespace guideway

int main(int argc, char** argv) {
  using namespace guideway;
  const auto options = parse_options(argc, argv);
  if (options && !*options) return 0;
  const Result<void> done = options ? run(**options) : tl::unexpected(options.error());
  if (done) return 0;
  fmt::print(stderr, "guideway-replay: {}\n", done.error().text());
  return done.error().kind == ErrorKind::usage ? 2 : 1;
}
