#include "state/seatings.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "state/pool_rows.h"

namespace guideway {
namespace {

std::vector<Member> members_of(const Pool& pool) {
  std::vector<Member> members;
  members.reserve(pool.backends.size());
  for (const Backend& backend : pool.backends) members.push_back({backend.name, backend.weight});
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  return members;
}

// The present seating of a pool, where the pool is there and keeps its seed and its number of rows.
std::shared_ptr<const Seating> continued(const SiteVersion& before, const Site& after, const Pool& pool) {
  const auto found = before.seatings.find(pool.name);
  if (found == before.seatings.end()) return nullptr;
  const Seating& seating = *found->second;
  const bool same = seating.seed == after.seed_of(pool) && seating.row_count == pool.rows;
  return same ? found->second : nullptr;
}

std::shared_ptr<const Seating> restored(const Pool& pool, const std::shared_ptr<const Seating>& now,
                                        const std::shared_ptr<const Seating>& earlier) {
  if (now == earlier || *now == *earlier) return now;
  if (now->seed != earlier->seed || now->row_count != earlier->row_count) return earlier;

  std::unordered_map<std::string_view, MemberIndex> index;
  for (std::size_t i = 0; i < earlier->members.size(); ++i)
    index.emplace(earlier->members[i].name, static_cast<MemberIndex>(i));
  std::vector<MemberIndex> back(now->members.size(), no_member);  // member now -> member then
  for (std::size_t i = 0; i < now->members.size(); ++i)
    if (const auto found = index.find(now->members[i].name); found != index.end()) back[i] = found->second;

  // First hops as a deal sees them: everybody healthy (contract 1, item 3b and d).
  std::vector<MemberStatus> healthy;
  for (const BackendState state : states_of(*now, pool)) healthy.push_back({state, Health::up});
  const std::vector<Row> rows = build_rows(*now, healthy, pool.rules());
  auto out = std::make_shared<Seating>(*earlier);
  for (std::uint32_t row = 0; row < out->row_count; ++row) {
    const MemberIndex first = rows[row].takes_new != 0 ? rows[row].hop[0] : no_member;
    const MemberIndex then = first == no_member ? no_member : back[first];
    if (then != no_member && then != out->holder[row]) out->former[row] = then;
  }
  return out;
}

}  // namespace

bool fits(const Seating& seating, const Site& site, const Pool& pool) {
  if (seating.seed != site.seed_of(pool) || seating.row_count != pool.rows ||
      seating.members.size() != pool.backends.size())
    return false;
  return std::all_of(pool.backends.begin(), pool.backends.end(), [&](const Backend& backend) {
    const auto found =
        std::lower_bound(seating.members.begin(), seating.members.end(), backend.name,
                         [](const Member& member, const std::string& name) { return member.name < name; });
    return found != seating.members.end() && found->name == backend.name && found->weight == backend.weight;
  });
}

Result<Seatings> dealt_seatings(const SiteVersion& before, const Site& after) {
  Seatings out;
  const SharedWith<Pool> unchanged(before.site.pools);
  const bool same_seed = before.site.hash_seed == after.hash_seed;
  for (const Pool& pool : after.pools) {
    if (same_seed && unchanged.contains(pool)) {
      out.emplace(pool.name, before.seatings.at(pool.name));
      continue;
    }
    std::vector<Member> members = members_of(pool);
    const auto old = continued(before, after, pool);
    if (old != nullptr && old->members == members) {
      out.emplace(pool.name, old);
      continue;
    }
    auto seating =
        old != nullptr
            ? deal(*old, states_of(*old, *before.site.find_pool(pool.name)), std::move(members), pool.deal)
            : deal(empty_seating(after.seed_of(pool), pool.rows), {}, std::move(members), pool.deal);
    if (!seating) return tl::unexpected(std::move(seating.error()));
    out.emplace(pool.name, std::make_shared<const Seating>(std::move(*seating)));
  }
  return out;
}

Result<Seatings> with_imported(Seatings dealt, const Seatings& imported, const Site& site) {
  for (const auto& [name, seating] : imported) {
    const Pool* pool = site.find_pool(name);
    const std::string where = fmt::format("seating of pool \"{}\"", name);
    if (pool == nullptr)
      return fail(ErrorKind::invalid, "the site has no such pool", where,
                  "export site and seatings together");
    if (auto good = check_seating(*seating); !good)
      return fail(ErrorKind::invalid, std::move(good.error().what), where, "export it again");
    if (!fits(*seating, site, *pool))
      return fail(ErrorKind::invalid, "it is not of the pool's backends, weights, seed and rows", where,
                  "export site and seatings together, or apply the site as TOML to have the seats dealt");
    auto& present = dealt.at(name);
    if (!(*present == *seating)) present = seating;
  }
  return dealt;
}

Seatings restored_seatings(const SiteVersion& present, const SiteVersion& earlier) {
  Seatings out = earlier.seatings;
  for (auto& [name, seating] : out) {
    const auto now = present.seatings.find(name);
    const Pool* pool = present.site.find_pool(name);
    if (now != present.seatings.end() && pool != nullptr) seating = restored(*pool, now->second, seating);
  }
  return out;
}

}  // namespace guideway
