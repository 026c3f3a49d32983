// Backend ids: which number names which backend in flow-table entries.
// What: hands out ids, keeps them while a backend stays, and rests them after it left.
// Why:  a flow-table entry holds an id for as long as its timeout; an id that came back sooner would send the
//       flow of one backend to another.
//       Counters go by id, too, and never fall: a new backend starts at zero as long as there are ids that were
//       never used, so those come first.
// Cost: a map look-up a backend; 16 bytes a snapshot for each backend that there ever was.
// Thread: control.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"
#include "snapshot/ids.h"

namespace guideway {

// A backend of another address is another server, so the address is part of its identity.
struct BackendIdentity {
  std::string pool, name;
  IpAddress address;
  friend auto operator<=>(const BackendIdentity&, const BackendIdentity&) = default;
};

class BackendIds {
 public:
  // `capacity` ids, 0 to capacity-1.
  explicit BackendIds(std::size_t capacity = to_index(no_backend)) : capacity_(capacity) {}

  // Gives every backend in `present` its id and rests the ids of all others. `rest` is the longest time that an
  // entry can hold an id; the longest ever named counts. On a refusal nothing changes.
  [[nodiscard]] Result<void> assign(std::vector<BackendIdentity> present, std::chrono::milliseconds now,
                                    std::chrono::milliseconds rest);

  [[nodiscard]] std::optional<BackendId> find(const BackendIdentity& backend) const;
  // One beyond the highest id in use.
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] std::size_t resting() const { return resting_.size(); }

 private:
  struct Resting {
    BackendId id;
    std::chrono::milliseconds since;
  };
  std::size_t capacity_;
  std::map<BackendIdentity, BackendId> ids_;
  std::size_t end_ = 0;
  std::deque<Resting> resting_;  // in the order in which they left
  std::size_t unused_ = 0;       // ids from here on were never handed out
  std::chrono::milliseconds now_{0}, rest_{0};
};

}  // namespace guideway
