// Changes under load: what the traffic notices when the site changes, and how soon it does.
// What: 100 drains and undrains a second, one after the other over the pools, through the API of a director whose worker
//       forwards as fast as it can; beside seconds without a change in the same run.
// Thread: main, once a process.
#pragma once

#include <cstdint>

namespace guideway::bench {

struct ChangesRules {
  std::uint32_t pools = 1;
  std::uint32_t backends_each = 100;
  std::uint32_t a_second = 100;
  std::uint32_t seconds = 5;  // with changes, and as many without
};

// Times in microseconds.
struct Changes {
  std::uint64_t changes = 0;
  double packets_per_second = 0, packets_per_second_without = 0;
  std::uint64_t lost = 0;       // handed to the worker and not sent by it
  std::uint64_t uncounted = 0;  // missing in packets in = forwarded + dropped + ...

  // From before the client sends its request, over a connection that the API has accepted, to the first packet that the
  // new rows sent.
  double drain_median = 0, drain_p90 = 0, undrain_median = 0;
  double answer_median = 0;        // to the end of the API's answer
  double durable_bare_median = 0;  // what one flush alone costs on this disk

  // A round of the worker's loop: a burst of 32 in, forwarded, and its counters.
  double round_median = 0, round_median_without = 0;
  double round_p999 = 0, round_p999_without = 0;
  double round_most = 0, round_most_without = 0;
  double swap_median = 0;  // the first round with new rows
  // How often the worker's thread gave its core away by itself, which a lock, a sleep or a read would make it do.
  std::uint64_t waits = 0;
};

[[nodiscard]] Changes run_changes(const ChangesRules& rules);

}  // namespace guideway::bench
