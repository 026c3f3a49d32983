#include "state/live_flows.h"

#include <fmt/format.h>

namespace guideway {
namespace {

using std::chrono::milliseconds;

// As a person says it: seconds up to two minutes, then minutes, rounded up.
std::string about(milliseconds span) {
  const auto seconds = (span.count() + 999) / 1000;
  return seconds < 120 ? fmt::format("{} s", seconds) : fmt::format("{} min", (seconds + 59) / 60);
}

std::string reason(const UnseenFlows& unseen) {
  const std::string ago = about(unseen.ago) + " ago";
  constexpr std::string_view older = "and connections from before are in no flow table";
  switch (unseen.why) {
    case Unseen::started:
      return fmt::format("this director started {}, {}", ago, older);
    case Unseen::came_back:
      return fmt::format("it came back to the pool {}, {}", ago, older);
    case Unseen::table_on:
      return fmt::format("the pool's flow table was turned on {}, {}", ago, older);
    case Unseen::table_full:
      return fmt::format("{} a flow table was full, or was purged, and has no entry for a flow of it", ago);
    case Unseen::strangers:
      break;
  }
  return fmt::format(
      "connections that this director did not see begin go on, the last packet {}, and may be its own", ago);
}

}  // namespace

std::string unseen_sentence(const UnseenFlows& unseen) {
  return fmt::format("{}; it will be known in {}{}", reason(unseen), about(unseen.known_in),
                     unseen.why == Unseen::strangers ? ", if no more come" : "");
}

}  // namespace guideway
