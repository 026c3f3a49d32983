// Publisher: hands a finished snapshot to the workers.
// What: one atomic pointer; the old snapshot is freed after an RCU grace period, never waited for by the
// caller. Thread: control publishes; io implements it (rte_rcu_qsbr), replay and tests with a plain pointer.
#pragma once

#include <memory>

#include "snapshot/snapshot.h"

namespace guideway {

class Publisher {
 public:
  virtual ~Publisher() = default;
  // Every burst that a worker takes after this returns uses `snapshot` or a later one.
  virtual void publish(std::shared_ptr<const Snapshot> snapshot) = 0;
};

}  // namespace guideway
