#include <fmt/format.h>
#include <algorithm>

#include "guideway/placement.h"
#include "tables/members.h"
#include "tables/rendezvous.h"

namespace guideway {

bool is_prime(std::uint32_t n) {
  if (n < 4) return n >= 2;
  if (n % 2 == 0) return false;
  for (std::uint64_t divisor = 3; divisor * divisor <= n; divisor += 2) {
    if (n % divisor == 0) return false;
  }
  return true;
}

Seating empty_seating(std::uint64_t seed, std::uint32_t row_count) {
  Seating seating;
  seating.seed = seed;
  seating.row_count = row_count;
  seating.holder.assign(row_count, no_member);
  seating.former.assign(row_count, no_member);
  return seating;
}

Result<void> check_seating(const Seating& seating) {
  const auto broken = [](std::string what) {
    return fail(ErrorKind::invalid, std::move(what), {},
                "restore the site from a backup, or deal it from nothing");
  };
  if (auto checked = check_row_count(seating.row_count); !checked) return checked;
  if (auto checked = check_members(seating.members); !checked) return checked;
  if (seating.holder.size() != seating.row_count || seating.former.size() != seating.row_count) {
    return broken(fmt::format("the seating has {} holders and {} formers for {} rows", seating.holder.size(),
                              seating.former.size(), seating.row_count));
  }
  const std::size_t count = seating.members.size();
  for (std::uint32_t row = 0; row < seating.row_count; ++row) {
    const MemberIndex holder = seating.holder[row], former = seating.former[row];
    if (count == 0 ? holder != no_member : holder >= count) {
      return broken(fmt::format("the seating gives row {} to member {} of {}", row, holder, count));
    }
    if (former != no_member && (former >= count || former == holder)) {
      return broken(
          fmt::format("the seating names member {} of {} as the former of row {}", former, count, row));
    }
  }
  return {};
}

std::vector<MemberIndex> ranking(const Seating& seating, std::uint32_t row) {
  return Rendezvous(seating.members, seating.seed).ranking(row);
}

}  // namespace guideway
