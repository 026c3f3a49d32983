#include "tables/algorithms/slots.h"

#include <algorithm>
#include <array>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/members_of_nodes.h"
#include "tables/quota.h"

namespace guideway {
namespace {

constexpr std::array<std::uint16_t, 256> make_crc16_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte << 8;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder << 1 ^ ((remainder & 0x8000) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<std::uint16_t>(remainder);
  }
  return table;
}

constexpr auto crc16_table = make_crc16_table();

}  // namespace

std::uint16_t crc16(std::string_view bytes) {
  std::uint32_t crc = 0;
  for (const char c : bytes) crc = (crc << 8 & 0xffff) ^ crc16_table[crc >> 8 ^ static_cast<std::uint8_t>(c)];
  return static_cast<std::uint16_t>(crc);
}

std::string_view hash_tag(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::uint32_t slot_of(std::string_view key) { return crc16(hash_tag(key)) % slot_count; }

namespace {

class SlotsPlacement final : public Placement {
 public:
  SlotsPlacement(PlacementRequest request, std::vector<MemberIndex> slots)
      : Placement(std::move(request)), slots_(std::move(slots)) {}

  [[nodiscard]] std::uint64_t hash(std::string_view key) const override { return slot_of(key); }
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return slots_[key_hash % slot_count];
  }
  [[nodiscard]] std::span<const MemberIndex> rows() const override { return slots_; }
  [[nodiscard]] std::size_t bytes() const override { return slots_.size() * sizeof slots_[0]; }

 private:
  std::vector<MemberIndex> slots_;
};

// The slots that stay: those of nodes that do, and no more of a node than its quota, the lower numbers first.
std::vector<MemberIndex> keep_slots(const SlotsPlacement* before, std::span<const Node> nodes,
                                    std::span<std::uint32_t> room) {
  std::vector<MemberIndex> slots(slot_count, no_member);
  if (before == nullptr) return slots;
  std::vector<MemberIndex> renumbered;
  for (const Node& old : before->nodes()) {
    const auto found =
        std::lower_bound(nodes.begin(), nodes.end(), old.name,
                         [](const Node& node, const std::string& name) { return node.name < name; });
    const bool stays = found != nodes.end() && found->name == old.name;
    renumbered.push_back(stays ? static_cast<MemberIndex>(found - nodes.begin()) : no_member);
  }
  for (std::uint32_t slot = 0; slot < slot_count; ++slot) {
    const MemberIndex member = renumbered[before->rows()[slot]];
    if (member == no_member || room[member] == 0) continue;
    slots[slot] = member;
    --room[member];
  }
  return slots;
}

Result<PlacementPtr> build_slots(PlacementRequest request) {
  std::vector<std::uint32_t> room = quotas(members_of(request.nodes), slot_count);
  std::vector<MemberIndex> slots =
      keep_slots(dynamic_cast<const SlotsPlacement*>(request.before), request.nodes, room);
  std::size_t member = 0;
  for (MemberIndex& slot : slots) {  // the rooms add up to the free slots
    if (slot != no_member) continue;
    while (room[member] == 0) ++member;
    slot = static_cast<MemberIndex>(member);
    --room[member];
  }
  return std::make_unique<SlotsPlacement>(std::move(request), std::move(slots));
}

}  // namespace

constexpr Algorithm algorithm::slots{
    .name = "slots",
    .summary = "16,384 slots in ranges; a change reassigns as few as make it even",
    .source = "the Redis Cluster specification",
    .promises = {.monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t nodes,
                     const PlacementOptions&) { return 1 + static_cast<double>(nodes) / slot_count; },
    .build = build_slots};

}  // namespace guideway
