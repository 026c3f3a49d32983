// Anchor: a fixed number of buckets, each working or taken out; a key that meets one that is out asks on among those
// that were working when it went.
// What: any node may go, and a node that comes gets the bucket that was freed last. Movement is minimal both ways.
// Cost: 16 bytes for each of `capacity` buckets; ln(capacity / nodes) + 1 steps a look-up; never more nodes than that.
// Source: Mendelson et al., AnchorHash: A Scalable Consistent Hash, 2020 (the form without copies).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/buckets.h"
#include "tables/mix.h"

namespace guideway {
namespace {

class Anchor {
 public:
  Anchor(std::uint32_t capacity, std::uint32_t working)
      : left_when_out_(capacity),
        successor_(capacity),
        working_(capacity),
        place_(capacity),
        count_(working) {
    std::iota(successor_.begin(), successor_.end(), 0U);
    std::iota(working_.begin(), working_.end(), 0U);
    std::iota(place_.begin(), place_.end(), 0U);
    for (std::uint32_t bucket = capacity; bucket-- > working;) {
      left_when_out_[bucket] = bucket;
      out_.push_back(bucket);
    }
  }

  [[nodiscard]] std::uint32_t bucket(std::uint64_t key) const {
    auto bucket = static_cast<std::uint32_t>(key % left_when_out_.size());
    while (left_when_out_[bucket] > 0) {
      // Among those that were working after this one went; one that went earlier stands for who took its place.
      auto next = static_cast<std::uint32_t>(mix(key ^ mix(bucket + 1)) % left_when_out_[bucket]);
      while (left_when_out_[next] >= left_when_out_[bucket]) next = successor_[next];
      bucket = next;
    }
    return bucket;
  }

  void remove(std::uint32_t bucket) {
    out_.push_back(bucket);
    --count_;
    left_when_out_[bucket] = count_;
    working_[place_[bucket]] = working_[count_];
    place_[working_[count_]] = place_[bucket];
    successor_[bucket] = working_[count_];
  }

  [[nodiscard]] bool full() const { return out_.empty(); }
  std::uint32_t add() {
    const std::uint32_t bucket = out_.back();
    out_.pop_back();
    left_when_out_[bucket] = 0;
    place_[working_[count_]] = count_;
    working_[place_[bucket]] = bucket;
    successor_[bucket] = bucket;
    ++count_;
    return bucket;
  }

  [[nodiscard]] std::uint32_t capacity() const { return static_cast<std::uint32_t>(left_when_out_.size()); }
  [[nodiscard]] std::size_t bytes() const { return 4 * sizeof(std::uint32_t) * capacity(); }

 private:
  std::vector<std::uint32_t> left_when_out_;  // how many were left working when it went; 0 while it works (A)
  std::vector<std::uint32_t> successor_;      // who took its place among the working (K)
  std::vector<std::uint32_t> working_;        // the working ones, in the first count_ places (W)
  std::vector<std::uint32_t> place_;          // of each among them (L)
  std::vector<std::uint32_t> out_;            // in the order they went (R)
  std::uint32_t count_;                       // (N)
};

class AnchorPlacement final : public Placement {
 public:
  AnchorPlacement(PlacementRequest request, Anchor anchor, std::vector<std::string> names)
      : Placement(std::move(request)),
        anchor_(std::move(anchor)),
        names_(std::move(names)),
        member_(members_in(names_, nodes())) {}

  [[nodiscard]] const Anchor& anchor() const { return anchor_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return member_[anchor_.bucket(key_hash)];
  }
  [[nodiscard]] std::size_t bytes() const override {
    return anchor_.bytes() + member_.size() * sizeof member_[0];
  }

 private:
  Anchor anchor_;
  std::vector<std::string> names_;   // [capacity]; no_node where a bucket is out
  std::vector<MemberIndex> member_;  // [capacity]
};

std::uint32_t capacity_for(const PlacementRequest& request) {
  constexpr std::size_t least = 1024;
  if (request.options.capacity != 0) return request.options.capacity;
  return static_cast<std::uint32_t>(std::clamp(2 * request.nodes.size(), least, members_max));
}

Result<PlacementPtr> build_anchor(PlacementRequest request) {
  const auto* before = dynamic_cast<const AnchorPlacement*>(request.before);
  const std::uint32_t capacity = before != nullptr ? before->anchor().capacity() : capacity_for(request);
  if (request.nodes.size() > capacity || capacity > members_max) {
    return fail(
        ErrorKind::refused,
        fmt::format("anchor has room for {} backends, and there are {}", capacity, request.nodes.size()), {},
        fmt::format("begin anew with a capacity of up to {}", members_max));
  }
  Anchor anchor = before != nullptr ? before->anchor()
                                    : Anchor(capacity, static_cast<std::uint32_t>(request.nodes.size()));
  std::vector<std::string> names = before != nullptr ? before->names() : std::vector<std::string>(capacity);
  if (before == nullptr) {
    std::transform(request.nodes.begin(), request.nodes.end(), names.begin(),
                   [](const Node& node) { return node.name; });
  }
  const NodeChange change = change_of(names, request.nodes);
  for (const std::string& name : change.gone) {
    const auto bucket =
        static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
    anchor.remove(bucket);
    names[bucket] = no_node;
  }
  for (const std::string& name : change.come) names[anchor.add()] = name;
  return std::make_unique<AnchorPlacement>(std::move(request), std::move(anchor), std::move(names));
}

}  // namespace

constexpr Algorithm algorithm::anchor{
    .name = "anchor",
    .summary = "numbered buckets up to a capacity; any may go, the one freed last is taken next",
    .source = "Mendelson et al., AnchorHash, 2020",
    .promises = {.undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t, const PlacementOptions&) { return 1.0; },
    .build = build_anchor};

}  // namespace guideway
