// Flow witness: since when this director has seen every flow of a backend begin.
// What: follows the site's versions, and says for how long yet a backend may have flows that are in no flow table.
// Why:  only a SYN (or a UDP packet) makes an entry. A flow that began before this director counted is in no table for
//       as long as it lives, so a count of 0 says nothing about it. Two things together tell:
//       - a silent one shows itself by nothing, so after a start, a return of the backend, a flow table turned on and
//         an entry refused the count is not all there is for the time that a silent flow is remembered
//         (timeouts.established);
//       - one that goes on is a stranger: TCP packets without SYN and without an entry. The data plane marks every
//         backend that such a packet names as a hop, as any of them may know it.
//       Strangers alone would miss the silent ones, the time alone those that live longer. A director's very first
//       start (no version of the site in its journal) has served nothing before: no wait, unless strangers show that
//       somebody has (another director, or a journal that did not survive the restart).
// Cost: a map entry a backend; nothing per packet.
// Thread: the caller serialises.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "snapshot/counters.h"
#include "state/backend_ids.h"
#include "state/live_flows.h"
#include "state/site.h"

namespace guideway {

// What the workers have marked for a backend: how long ago, at the last time.
struct FlowMarks {
  std::optional<std::chrono::milliseconds> stranger, refused;
  bool any_stranger = false;  // of any backend, ever

  // One worker's.
  void add(const WorkerCounters& counters, BackendId backend, std::uint32_t now_ms);
};

class FlowWitness {
 public:
  explicit FlowWitness(bool first_start) : first_start_(first_start) {}

  // The site from `now` on. The first one is what this director started with.
  void follow(const Site& site, std::chrono::milliseconds now);
  // Of a backend of the present site, in a pool with a flow table; nullopt: what is counted is all there is.
  [[nodiscard]] std::optional<UnseenFlows> unseen(const Pool& pool, const Backend& backend,
                                                  std::chrono::milliseconds now,
                                                  const FlowMarks& marks) const;

 private:
  struct Since {
    std::optional<Unseen> why;  // nullopt: it has been new here, and everything of it was seen
    std::chrono::milliseconds when{0};
    bool flow_table = true;
    std::chrono::milliseconds established{0};
  };
  [[nodiscard]] Since since(const BackendIdentity& backend, const Pool& pool,
                            std::chrono::milliseconds now) const;

  bool first_start_;
  bool started_ = false;
  std::map<BackendIdentity, Since> present_;
  std::map<BackendIdentity, Since> gone_;  // `when` they left; until nothing silent of them can be left
};

}  // namespace guideway
