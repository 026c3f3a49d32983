#include "tables/rendezvous.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tables/xxh3.h"

namespace guideway {
namespace {

// Candidates are drawn for in chunks whose bounds stay in the first-level cache.
constexpr std::size_t chunk = 1024;
static_assert(chunk % reach_block == 0);

constexpr float in_nobodys_reach = std::numeric_limits<float>::quiet_NaN();

bool contains(std::span<const MemberIndex> members, MemberIndex member) {
  for (const MemberIndex m : members) {
    if (m == member) return true;
  }
  return false;
}

float least_of(std::span<const float> bounds) {
  float least = std::numeric_limits<float>::infinity();
  for (const float bound : bounds) least = bound < least ? bound : least;
  return least;
}

}  // namespace

Rendezvous::Rendezvous(std::span<const Member> members, std::uint64_t seed, const ReachVariant& reach)
    : reach_(reach) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    add(fold(xxh3(members[i].name, seed + 3)), members[i].weight, static_cast<MemberIndex>(i));
  }
  fill_up();
}

Rendezvous::Rendezvous(const Rendezvous& all, std::span<const std::uint8_t> takes_part, std::uint8_t bit)
    : reach_(all.reach_) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((takes_part[all.member_[i]] & bit) != 0) add(all.name_fold_[i], all.weight_[i], all.member_[i]);
  }
  fill_up();
}

void Rendezvous::add(std::uint64_t name_fold, std::uint32_t weight, MemberIndex member) {
  name_fold_.push_back(name_fold);
  inverse_weight_.push_back(1 / static_cast<float>(weight));
  weight_.push_back(weight);
  candidate_.resize(member, nobody_leads);
  candidate_.push_back(static_cast<std::uint32_t>(member_.size()));
  member_.push_back(member);
  heaviest_ = std::max(heaviest_, weight);
}

void Rendezvous::fill_up() {
  const std::size_t padded = (size() + reach_block - 1) / reach_block * reach_block;
  name_fold_.resize(padded);
  inverse_weight_.resize(padded, in_nobodys_reach);
}

MemberIndex Rendezvous::best(std::uint64_t row, std::span<const MemberIndex> left_out) const {
  const std::uint64_t row_fold = row_fold_of(row);
  std::array<float, chunk> bound;
  std::array<std::uint16_t, chunk> found;
  const auto heaviest = static_cast<float>(heaviest_);
  Standing best;
  float reach = std::numeric_limits<float>::max();  // of the best so far

  for (std::size_t begin = 0; begin < name_fold_.size(); begin += chunk) {
    const std::size_t count = std::min(chunk, name_fold_.size() - begin);
    float least = reach_.bounds(&name_fold_[begin], &inverse_weight_[begin], count, row_fold, bound.data());
    while (least <= reach) {
      // Holds the winner if the owner of `least` is the heaviest member, and often if not; at least that owner itself.
      const float likely = std::max(least, reach_at_most(least * heaviest) / heaviest);
      const float limit = std::min(reach, likely);
      const std::size_t near = reach_.within(bound.data(), count, limit, found.data());
      for (std::size_t k = 0; k < near; ++k) {
        const std::size_t i = begin + found[k];
        bound[found[k]] = in_nobodys_reach;  // looked at, once and for all
        if (contains(left_out, member_[i])) continue;
        const Standing candidate = standing_folded(i, row_fold);
        if (best.member != no_member && !outranks(candidate, best)) continue;
        best = candidate;
        reach = std::min(reach, reach_of(best.distance, inverse_weight_[i]));
      }
      if (reach <= limit) break;
      least = least_of({bound.data(), count});
    }
  }
  return best.member;
}

void Rendezvous::best(std::span<const RowQuestion> questions, std::span<MemberIndex> answers) const {
  // A block costs the same whatever number of its lanes is in use; and the more candidates, the less there is to save.
  constexpr std::size_t worth_a_block = reach_block / 2, candidates_max = 512;
  const bool in_blocks = reach_.lead != nullptr && size() <= candidates_max;
  while (in_blocks && questions.size() >= worth_a_block) {
    const std::size_t count = std::min(reach_block, questions.size());
    best_of_block(questions.first(count), answers.first(count));
    questions = questions.subspan(count);
    answers = answers.subspan(count);
  }
  for (std::size_t k = 0; k < questions.size(); ++k) {
    answers[k] = best(questions[k].row, questions[k].left_out);
  }
}

void Rendezvous::best_of_block(std::span<const RowQuestion> questions, std::span<MemberIndex> answers) const {
  RowBlock rows;
  for (std::size_t k = 0; k < reach_block; ++k) {
    const RowQuestion& question = questions[std::min(k, questions.size() - 1)];
    rows.row_fold[k] = row_fold_of(question.row);
    for (std::size_t j = 0; j < RowQuestion::left_out_max; ++j) {
      rows.left_out[j][k] = candidate_of(question.left_out[j]);
    }
  }
  reach_.lead(name_fold_.data(), inverse_weight_.data(), size(), rows);
  for (std::size_t k = 0; k < questions.size(); ++k) {
    const std::uint32_t leader = rows.leader[k];
    if (leader == nobody_leads) {
      answers[k] = no_member;
      continue;
    }
    // How far the leader's rank may reach, by its bound as that of a weight of 1; whoever is beyond it ranks behind.
    const float reach =
        reach_at_most(rows.least[k] * static_cast<float>(weight_[leader])) * inverse_weight_[leader];
    answers[k] = rows.next[k] > reach ? member_[leader] : best(questions[k].row, questions[k].left_out);
  }
}

std::vector<MemberIndex> Rendezvous::ranking(std::uint64_t row) const {
  std::vector<Standing> standings(size());
  for (std::size_t i = 0; i < size(); ++i) standings[i] = standing(i, row);
  std::sort(standings.begin(), standings.end(), outranks);
  std::vector<MemberIndex> members(size());
  std::transform(standings.begin(), standings.end(), members.begin(),
                 [](const Standing& s) { return s.member; });
  return members;
}

}  // namespace guideway
