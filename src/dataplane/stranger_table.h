// Stranger table: which TCP connections without an entry go on.
// What: the first packet of each, by a part of the flow hash; one that comes `proof_ms` later proves that the connection
//       goes on.
// Why:  after a restart, or with a full flow table, connections live that no entry tells of, and whoever takes a backend
//       out must hear of them. A single packet proves nothing: scans, backscatter and a client that wakes up after an
//       hour bring one, get their RST and are gone. On a busy site there is always one of those.
// Cost: 32 KiB that only packets without an entry touch. Two connections in one place: the one that is pushed out before
//       it could be judged counts as one that goes on, so a full table errs to the safe side.
// Thread: one worker.
#pragma once

#include <array>
#include <cstdint>

namespace guideway {

class StrangerTable {
 public:
  static constexpr std::size_t slots = 4096;
  static constexpr std::uint32_t proof_ms = 3000;

  // A packet of the connection has come; whether it goes on, or one in its place may.
  [[nodiscard]] bool goes_on(std::uint64_t hash, std::uint32_t now_ms) {
    Slot& slot = slots_[hash % slots];
    const auto tag = static_cast<std::uint32_t>(hash >> 32) | 1U;
    const bool young = now_ms - slot.first_ms < proof_ms;
    if (slot.tag == tag) return !young;
    const bool judged = slot.tag == 0 || !young;
    slot = {tag, now_ms};
    return !judged;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // 0: empty
    std::uint32_t first_ms = 0;
  };
  std::array<Slot, slots> slots_{};
};

}  // namespace guideway
