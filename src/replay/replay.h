// Replay: a capture through the data plane.
// What: frames into bursts, bursts through the director's pipeline at the capture's own time, commands at their
//       packet, what would leave into a file; the audit and the report beside it.
// Why:  the same pipeline as in the daemon, so what is seen here is what would happen there.
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "replay/audit.h"
#include "replay/capture.h"
#include "replay/capture_writer.h"
#include "replay/director.h"

struct rte_mbuf;

namespace guideway {

// A command before packet `packet`, counted from 0.
struct AtCommand {
  std::uint64_t packet = 0;
  std::string line;
};

struct EpochMark {
  std::uint64_t packet = 0;  // before which it came into force
  Epoch epoch{};
  std::string command;  // empty: the site as it was given
};

struct ReplayResult {
  std::uint64_t packets = 0;
  CaptureTime first{0}, last{0};
  std::uint64_t flows_tcp = 0, flows_udp = 0;  // distinct tuples to services
  std::vector<EpochMark> epochs;
  std::vector<AtCommand> not_reached;  // the capture ended before
};

struct ReplayParts {
  ReplayDirector& director;
  Capture& capture;
  CaptureWriter* out = nullptr;  // may be absent
  Audit& audit;
  std::function<rte_mbuf*(std::span<const std::uint8_t>)> make_mbuf;
  // Carries one command out; `now` since the capture's first packet.
  std::function<Result<void>(const std::string& line, std::chrono::milliseconds now)> run_command;
};

// `at` in any order; those for one packet keep theirs. A command that is refused ends the run.
[[nodiscard]] Result<ReplayResult> replay(const ReplayParts& parts, std::vector<AtCommand> at);

}  // namespace guideway
