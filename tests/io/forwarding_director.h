// Forwarding director: ports, publisher and workers as the daemon puts them together, with one backend behind the
// second port.
#pragma once

#include <cstdint>
#include <memory>

#include "io/ports.h"
#include "io/publisher.h"
#include "io/workers.h"
#include "one_backend.h"

namespace guideway {

class ForwardingDirector {
 public:
  // Its workers are not running yet.
  [[nodiscard]] static Result<std::unique_ptr<ForwardingDirector>> open(const DirectorConfig& config);

  [[nodiscard]] Ports& ports() { return *ports_; }
  [[nodiscard]] QsbrPublisher& publisher() { return *publisher_; }
  [[nodiscard]] Workers& workers() { return *workers_; }
  [[nodiscard]] NextHopIndex next_hop() const { return next_hop_; }
  // Of the port that packets for the service come in by.
  [[nodiscard]] const MacAddress& mac() const { return ports_->table().ports[0].mac; }

  // Over all workers.
  [[nodiscard]] std::uint64_t counted(Verdict verdict) const;
  [[nodiscard]] std::uint64_t packets_in() const;
  [[nodiscard]] std::uint64_t all_verdicts() const;
  [[nodiscard]] std::uint64_t sum(Counter VerdictCounters::*counter) const;

 private:
  ForwardingDirector() = default;
  NextHops next_hops_;
  NextHopIndex next_hop_ = 0;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<QsbrPublisher> publisher_;
  std::unique_ptr<Workers> workers_;
};

}  // namespace guideway
