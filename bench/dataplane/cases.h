// Cases: what the report measures, and what each is held to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/dataplane/testbed.h"

namespace guideway::bench {

// What comes in while a case is measured.
enum class Arrivals : std::uint8_t {
  known,    // packets of established flows; without a flow table, of any
  unknown,  // ACKs of flows that the table does not know, while it is full of others
  opening,  // SYNs of flows never seen, at a rate that the table has room for
  flood,    // the same, far faster than entries end: the table stays full
};

struct Case {
  std::string name;
  Settings settings;
  Arrivals arrivals = Arrivals::known;
  std::optional<double> limit;  // cycles a packet over the floor
  std::string beside;           // another case
  std::optional<double> ratio;  // of this one's whole cost to that one's, at most
};

[[nodiscard]] std::vector<Case> pipeline_cases();

}  // namespace guideway::bench
