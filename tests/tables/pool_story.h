// Pool story: a random life of one pool, for property tests.
// What: a chain of changes (members come, go and get new weights; states change), played on a seating.
// Why:  what the contract promises, it promises after every history, not only from nothing.
#pragma once

#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

#include "guideway/placement.h"
#include "guideway/rows.h"

namespace guideway {

struct Change {
  enum Kind { toggle_member, weigh, set_state, deal_several } kind;
  std::uint32_t who;     // modulo the names
  std::uint32_t number;  // the weight or state
};

// How RapidCheck prints a failing chain.
inline void showValue(const Change& change, std::ostream& out) {
  static constexpr const char* kinds[] = {"toggle", "weigh", "state", "several"};
  out << kinds[change.kind] << ' ' << change.who << ' ' << change.number;
}

inline void showValue(BackendState state, std::ostream& out) {
  static constexpr const char* names[] = {"active", "draining", "disabled"};
  out << names[static_cast<int>(state)];
}

inline void showValue(Health health, std::ostream& out) {
  static constexpr const char* names[] = {"up", "down", "unknown"};
  out << names[static_cast<int>(health)];
}

inline void showValue(NoneHealthy none_healthy, std::ostream& out) {
  out << (none_healthy == NoneHealthy::all ? "all" : "drop");
}

class PoolStory {
 public:
  static constexpr std::uint32_t names = 12;

  PoolStory(std::uint64_t seed, std::uint32_t row_count, DealMode mode = DealMode::stable)
      : seating_(empty_seating(seed, row_count)), mode_(mode) {}

  // True if the change dealt.
  bool play(const Change& change) {
    const std::string name = "b" + std::to_string(change.who % names);
    const std::uint32_t weight = weight_of(change.number);
    switch (change.kind) {
      case Change::toggle_member:
        if (weights_.erase(name) == 0) weights_[name] = weight;
        break;
      case Change::weigh:
        if (weights_.count(name) != 0) weights_[name] = weight;
        break;
      case Change::set_state:
        states_[name] = static_cast<BackendState>(change.number % 3);
        return false;
      case Change::deal_several:
        for (std::uint32_t i = 0; i < names; ++i) {
          const std::string other = "b" + std::to_string(i);
          if ((change.number >> i & 1) == 0) continue;
          if (weights_.erase(other) == 0) weights_[other] = weight;
        }
        break;
    }
    Seating next = deal(seating_, states(), members(), mode_).value();
    const bool dealt = next.members != seating_.members;
    seating_ = std::move(next);
    return dealt;
  }

  [[nodiscard]] const Seating& seating() const { return seating_; }
  [[nodiscard]] std::vector<Member> members() const {
    std::vector<Member> out;
    for (const auto& [name, weight] : weights_) out.push_back({name, weight});
    return out;
  }
  // Of the seating's members.
  [[nodiscard]] std::vector<BackendState> states() const {
    std::vector<BackendState> out;
    for (const Member& member : seating_.members) {
      const auto found = states_.find(member.name);
      out.push_back(found == states_.end() ? BackendState::active : found->second);
    }
    return out;
  }

 private:
  // Few distinct weights make ties, far ones make extremes.
  static std::uint32_t weight_of(std::uint32_t number) {
    static constexpr std::uint32_t weights[] = {100, 100, 100, 1, 2, 3, 50, 200, 777, 65535};
    return weights[number % std::size(weights)];
  }

  Seating seating_;
  DealMode mode_;
  std::map<std::string, std::uint32_t> weights_;
  std::map<std::string, BackendState> states_;
};

inline rc::Gen<std::vector<Change>> some_changes() {
  return rc::gen::container<std::vector<Change>>(rc::gen::build<Change>(
      rc::gen::set(&Change::kind, rc::gen::weightedElement<Change::Kind>({{5, Change::toggle_member},
                                                                          {2, Change::weigh},
                                                                          {4, Change::set_state},
                                                                          {1, Change::deal_several}})),
      rc::gen::set(&Change::who, rc::gen::inRange<std::uint32_t>(0, PoolStory::names)),
      rc::gen::set(&Change::number, rc::gen::inRange<std::uint32_t>(0, 1U << PoolStory::names))));
}

// A pool after some changes.
inline PoolStory some_pool(DealMode mode = DealMode::stable) {
  PoolStory story(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::element(251U, 257U, 509U), mode);
  for (const Change& change : *some_changes()) story.play(change);
  return story;
}

inline HopRules some_rules() {
  return {.hops = *rc::gen::inRange(1U, 4U),
          .panic = *rc::gen::element(0.0, 0.0, 0.3, 0.5, 1.0),
          .none_healthy = *rc::gen::element(NoneHealthy::all, NoneHealthy::drop)};
}

inline MemberStatus some_status() {
  return {.state = *rc::gen::weightedElement<BackendState>(
              {{4, BackendState::active}, {1, BackendState::draining}, {1, BackendState::disabled}}),
          .health =
              *rc::gen::weightedElement<Health>({{3, Health::up}, {1, Health::down}, {1, Health::unknown}})};
}

inline std::vector<MemberStatus> some_statuses(std::size_t count) {
  std::vector<MemberStatus> out(count);
  for (MemberStatus& status : out) status = some_status();
  return out;
}

}  // namespace guideway
