// Memento: jump hashing that remembers who went.
// What: a key jumps; where its bucket has gone, it asks on among as many as were left then. Any node may go, and a
//       node that comes gets the bucket that was freed last, or a new one at the end. Movement is minimal both ways.
// Cost: memory only for those that went and were not replaced; without any it is jump.
// Source: Coluzzi, Brocco, Antonucci and Leidi, MementoHash, 2023.
#include <algorithm>
#include <unordered_map>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/buckets.h"
#include "tables/algorithms/jump.h"
#include "tables/mix.h"

namespace guideway {
namespace {

class Memento {
 public:
  explicit Memento(std::uint32_t buckets) : buckets_(buckets), last_out_(buckets) {}

  [[nodiscard]] std::uint32_t bucket(std::uint64_t key) const {
    std::uint32_t bucket = jump_bucket(key, buckets_);
    for (auto out = out_.find(bucket); out != out_.end(); out = out_.find(bucket)) {
      const std::uint32_t left = out->second.left;
      bucket = static_cast<std::uint32_t>(mix(key ^ mix(bucket + 1)) % left);
      // One that went earlier stands for the one that took its place, which is the last of those left then.
      for (auto next = out_.find(bucket); next != out_.end() && next->second.left >= left;
           next = out_.find(bucket)) {
        bucket = next->second.left;
      }
    }
    return bucket;
  }

  void remove(std::uint32_t bucket) {
    if (out_.empty() && bucket + 1 == buckets_) {
      last_out_ = --buckets_;
      return;
    }
    const auto left = static_cast<std::uint32_t>(buckets_ - out_.size() - 1);
    out_[bucket] = {.left = left, .out_before = last_out_};
    last_out_ = bucket;
  }

  std::uint32_t add() {
    if (out_.empty()) {
      last_out_ = ++buckets_;
      return buckets_ - 1;
    }
    const std::uint32_t bucket = last_out_;
    last_out_ = out_[bucket].out_before;
    out_.erase(bucket);
    return bucket;
  }

  [[nodiscard]] std::size_t bytes() const {
    return sizeof buckets_ + out_.size() * (sizeof(std::uint32_t) + sizeof(Out) + 2 * sizeof(void*));
  }

 private:
  struct Out {
    std::uint32_t left;        // how many were left when it went; the last of them took its place
    std::uint32_t out_before;  // the one that went before it
  };
  std::uint32_t buckets_;
  std::uint32_t last_out_;  // buckets_ where none is out
  std::unordered_map<std::uint32_t, Out> out_;
};

class MementoPlacement final : public Placement {
 public:
  MementoPlacement(PlacementRequest request, Memento memento, std::vector<std::string> names)
      : Placement(std::move(request)),
        memento_(std::move(memento)),
        names_(std::move(names)),
        member_(members_in(names_, nodes())) {}

  [[nodiscard]] const Memento& memento() const { return memento_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return member_[memento_.bucket(key_hash)];
  }
  [[nodiscard]] std::size_t bytes() const override {
    return memento_.bytes() + member_.size() * sizeof member_[0];
  }

 private:
  Memento memento_;
  std::vector<std::string> names_;   // [buckets]; no_node where one is out
  std::vector<MemberIndex> member_;  // [buckets]
};

Result<PlacementPtr> build_memento(PlacementRequest request) {
  const auto* before = dynamic_cast<const MementoPlacement*>(request.before);
  Memento memento = before != nullptr ? before->memento() : Memento(0);
  std::vector<std::string> names = before != nullptr ? before->names() : std::vector<std::string>();
  const NodeChange change = change_of(names, request.nodes);
  for (const std::string& name : change.gone) {
    const auto bucket = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    memento.remove(static_cast<std::uint32_t>(bucket));
    names[bucket] = no_node;
  }
  for (const std::string& name : change.come) {
    const std::size_t bucket = memento.add();
    names.resize(std::max(names.size(), bucket + 1));
    names[bucket] = name;
  }
  return std::make_unique<MementoPlacement>(std::move(request), std::move(memento), std::move(names));
}

}  // namespace

constexpr Algorithm algorithm::memento{
    .name = "memento",
    .summary = "jump that remembers who went; any may go, the one freed last is taken next",
    .source = "Coluzzi et al., MementoHash, 2023",
    .promises = {.undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t, const PlacementOptions&) { return 1.0; },
    .build = build_memento};

}  // namespace guideway
