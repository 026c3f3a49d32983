// Live flow tables: the workers' flow tables as commands see them.
// What: counts and finds entries by reading the tables where they are, and hands orders to purge to the workers.
// Thread: any; purges one at a time.
#pragma once

#include <memory>
#include <mutex>

#include "command/flow_tables.h"
#include "io/workers.h"
#include "snapshot/snapshot.h"
#include "state/site_version.h"

namespace guideway {

class LiveFlowTables final : public FlowTables {
 public:
  // `workers` outlive it.
  explicit LiveFlowTables(Workers& workers) : workers_(workers) {}

  // The site whose names the reports use, and what was built from it.
  void site_changed(std::shared_ptr<const SiteVersion> version, std::shared_ptr<const Snapshot> snapshot);

  FlowsReport report() override;
  std::vector<FlowEntry> find(std::uint64_t flow_hash) override;
  Result<std::uint64_t> purge(const std::string& pool, const std::string& backend) override;
  Result<std::uint64_t> purge(std::uint64_t flow_hash) override;

 private:
  // A site and its snapshot; both empty until the first.
  struct Published {
    std::shared_ptr<const SiteVersion> version;
    std::shared_ptr<const Snapshot> snapshot;
  };
  [[nodiscard]] Published published() const;
  Result<std::uint64_t> carry_out(const FlowPurgeOrder& order);

  Workers& workers_;
  mutable std::mutex mutex_;  // guards the next
  Published published_;
  std::mutex purging_;  // held through a purge
};

}  // namespace guideway
