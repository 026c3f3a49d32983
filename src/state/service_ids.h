// Service ids: which number names which service in counters.
// What: keeps an id while the service's name stays; the one free for longest is used again first.
// Not:  a quarantine: no flow-table entry holds a service id.
// Thread: control.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "snapshot/ids.h"

namespace guideway {

class ServiceIds {
 public:
  // At most service_ids_max names.
  void assign(const std::vector<std::string>& present);
  [[nodiscard]] std::optional<ServiceId> find(const std::string& service) const;
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  std::map<std::string, ServiceId> ids_;
  std::deque<ServiceId> free_;
  std::uint32_t unused_ = 0;
};

}  // namespace guideway
