// Churn: what share of the flows loses its backend when the pool changes (contract 1, item 8).
// What: one membership change a step, the pool within 10 % of its size, no flow table: a flow goes on as long as its
//       backend is one of its row's two hops. Flows live 20 steps on average. A flow on a backend that is removed
//       ends with it and is not counted.
// How:  no flow is drawn: each row carries its flows as shares by backend, so only the choice of members is random.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "guideway/rows.h"

namespace guideway {
namespace {

using BackendNumber = std::uint32_t;
constexpr BackendNumber nobody = ~0U;
constexpr std::uint64_t seed = 1;
constexpr int warm_up_steps = 20, counted_steps = 40;
constexpr double lifetime_steps = 20;

struct TwoHops {
  BackendNumber first = nobody, second = nobody;
};

// All flows, one unit a row.
class Flows {
 public:
  explicit Flows(const std::vector<TwoHops>& hops) : rows_(hops.size()) {
    for (std::size_t row = 0; row < hops.size(); ++row) rows_[row].push_back({hops[row].first, 1});
  }

  // Plays a change; the share of all flows that lost a backend that still serves.
  double change(const std::vector<TwoHops>& hops, BackendNumber removed) {
    double lost = 0;
    for (std::size_t row = 0; row < hops.size(); ++row) {
      double reopened = 0;
      std::erase_if(rows_[row], [&](Share& share) {
        const bool serves = share.backend != removed;
        const bool reached =
            serves && (share.backend == hops[row].first || share.backend == hops[row].second);
        const double leaving = reached ? share.flows / lifetime_steps : share.flows;
        if (serves && !reached) lost += share.flows;
        share.flows -= leaving;
        reopened += leaving;
        return !reached;
      });
      open(rows_[row], hops[row].first, reopened);
    }
    return lost / static_cast<double>(hops.size());
  }

 private:
  struct Share {
    BackendNumber backend;
    double flows;
  };

  static void open(std::vector<Share>& shares, BackendNumber backend, double flows) {
    const auto found =
        std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.backend == backend; });
    if (found != shares.end()) {
      found->flows += flows;
    } else {
      shares.push_back({backend, flows});
    }
  }

  std::vector<std::vector<Share>> rows_;
};

BackendNumber number_of(const Seating& seating, MemberIndex member) {
  return member == no_member ? nobody : static_cast<BackendNumber>(std::stoul(seating.members[member].name));
}

// A pool that changes by one member a step, told by numbers that are never used again.
class Membership {
 public:
  explicit Membership(std::size_t size) : size_(size) {
    while (members_.size() < size) add();
  }
  // The number removed, or nobody.
  BackendNumber step() {
    const bool grow =
        members_.size() * 10 <= size_ * 9 || (members_.size() * 10 < size_ * 11 && random_() % 2 == 0);
    if (grow) {
      add();
      return nobody;
    }
    const auto leaver = members_.begin() + static_cast<std::ptrdiff_t>(random_() % members_.size());
    const auto number = static_cast<BackendNumber>(std::stoul(leaver->name));
    members_.erase(leaver);
    return number;
  }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

 private:
  void add() { members_.push_back({fmt::format("{:06}", next_++), 100}); }

  std::size_t size_;
  BackendNumber next_ = 0;
  std::vector<Member> members_;
  std::mt19937_64 random_{seed};
};

struct Lost {
  double by_rule = 0;     // percent of flows a change, stable deals and the rows' first two hops
  double by_rebuild = 0;  // the same for Maglev from scratch, the previous table's holder as second hop
};

Seating dealt(const Seating& before, const Membership& pool, DealMode mode) {
  return deal(before, std::vector<BackendState>(before.members.size()), pool.members(), mode).value();
}

std::vector<TwoHops> hops_by_rule(const Seating& seating) {
  const std::vector<MemberStatus> all_well(seating.members.size());
  std::vector<TwoHops> hops;
  for (const Row& row : build_rows(seating, all_well, {.hops = 2})) {
    hops.push_back({number_of(seating, row.hop[0]), number_of(seating, row.hop[1])});
  }
  return hops;
}

std::vector<TwoHops> hops_by_rebuild(const Seating& seating, const std::vector<TwoHops>& previous) {
  std::vector<TwoHops> hops(seating.row_count);
  for (std::size_t row = 0; row < hops.size(); ++row) {
    hops[row] = {number_of(seating, seating.holder[row]), previous.empty() ? nobody : previous[row].first};
  }
  return hops;
}

Lost play_churn(std::size_t pool_size) {
  Membership pool(pool_size);
  Seating stable = dealt(empty_seating(seed, rows_default), pool, DealMode::stable), rebuilt = stable;
  std::vector<TwoHops> rebuilt_hops = hops_by_rebuild(rebuilt, {});
  Flows by_rule(hops_by_rule(stable)), by_rebuild(rebuilt_hops);

  Lost lost;
  for (int step = 0; step < warm_up_steps + counted_steps; ++step) {
    const BackendNumber removed = pool.step();
    stable = dealt(stable, pool, DealMode::stable);
    rebuilt = dealt(rebuilt, pool, DealMode::scratch);
    rebuilt_hops = hops_by_rebuild(rebuilt, rebuilt_hops);
    const double rule = by_rule.change(hops_by_rule(stable), removed);
    const double rebuild = by_rebuild.change(rebuilt_hops, removed);
    if (step < warm_up_steps) continue;
    lost.by_rule += 100 * rule / counted_steps;
    lost.by_rebuild += 100 * rebuild / counted_steps;
  }
  return lost;
}

// The contract's figures, from a model of its own: 0.032 and 0.54 % at N = 100, 0.0023 and 0.24 % at N = 468. Walks of
// 40 or 50 steps spread around them: three seeds gave 0.030 to 0.041 and 0.0013 to 0.0040 % by the rule, 0.67 to 0.78
// and 0.49 to 0.51 % by rebuilding. The rule is held to a factor of two, and to what the figures stand for: rebuilding
// loses an order of magnitude more flows, two in the larger pool.
TEST(Churn, AHundredBackends) {
  const Lost lost = play_churn(100);
  EXPECT_LT(lost.by_rule, 2 * 0.032);
  EXPECT_GT(lost.by_rule, 0.032 / 2);
  EXPECT_NEAR(lost.by_rebuild, 0.54, 0.27);
  EXPECT_GT(lost.by_rebuild, 10 * lost.by_rule);
}

TEST(Churn, FourHundredAndSixtyEightBackends) {
  const Lost lost = play_churn(468);
  EXPECT_LT(lost.by_rule, 2 * 0.0023);
  EXPECT_GT(lost.by_rule, 0.0023 / 2);
  EXPECT_GT(lost.by_rebuild, 100 * lost.by_rule);
}

}  // namespace
}  // namespace guideway
