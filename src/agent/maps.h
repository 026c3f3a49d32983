// Maps: the programs' lists and counters, from the agent's side.
// What: reads and writes the maps of a loaded program.
// Why:  they are the only state: what is in force is what the kernel holds, not what a file says.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "agent/settings.h"
#include "guideway/fd.h"

namespace guideway::agent {

class Maps {
 public:
  // Names of the maps in the object.
  static constexpr std::array<const char*, 5> names = {"gw_locals", "gw_senders", "gw_services", "gw_totals",
                                                       "gw_records"};

  // Takes descriptors in the order of `names`.
  explicit Maps(std::array<Fd, names.size()> fds) : fds_(std::move(fds)) {}

  [[nodiscard]] Lists lists() const;
  // First adds, then removes: an address that stays is never missing. Refused lists leave the maps as they were.
  [[nodiscard]] Result<void> set_lists(const Lists& lists) const;

  [[nodiscard]] Result<gw_record> record() const;
  [[nodiscard]] Result<void> set_record(const gw_record& record) const;

  [[nodiscard]] gw_counters counters() const;  // summed over the CPUs

  [[nodiscard]] int fd(std::size_t i) const { return fds_[i].get(); }

 private:
  [[nodiscard]] Result<void> write_lists(const Lists& lists) const;
  enum Index : std::size_t { locals, senders, services, totals, records };
  std::array<Fd, names.size()> fds_;
};

// Name and meaning of each counter, in order.
struct Counter {
  const char* name;
  const char* meaning;
  __u64 gw_counters::*value;
};
[[nodiscard]] const std::vector<Counter>& counter_table();

}  // namespace guideway::agent
