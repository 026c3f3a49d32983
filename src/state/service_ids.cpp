#include "state/service_ids.h"

namespace guideway {

void ServiceIds::assign(const std::vector<std::string>& present) {
  std::map<std::string, ServiceId> kept;
  std::vector<const std::string*> fresh;
  for (const std::string& name : present) {
    if (auto old = ids_.extract(name))
      kept.insert(std::move(old));
    else
      fresh.push_back(&name);
  }
  for (const auto& [name, id] : ids_) free_.push_back(id);
  for (const std::string* name : fresh) {
    // A number that was never used comes first, so that the counters of a service begin at nothing.
    if (unused_ < service_ids_max) {
      kept.emplace(*name, ServiceId{unused_++});
    } else {
      kept.emplace(*name, free_.front());
      free_.pop_front();
    }
  }
  ids_ = std::move(kept);
}

std::optional<ServiceId> ServiceIds::find(const std::string& service) const {
  const auto found = ids_.find(service);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace guideway
