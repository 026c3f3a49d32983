#include "tables/members.h"

#include <fmt/format.h>

#include "guideway/name.h"

namespace guideway {
Result<void> check_members(std::span<const Member> members) {
  if (members.size() > members_max) {
    return fail(ErrorKind::invalid,
                fmt::format("a pool of {} backends is above {}", members.size(), members_max), {},
                "spread them over several pools");
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    if (!is_name(member.name)) {
      // Escaped and cut: the name may be anything.
      return fail(ErrorKind::invalid, fmt::format("{:?} is no name for a backend", member.name.substr(0, 80)),
                  {}, "use 1 to 63 of the letters, digits and . _ -");
    }
    if (member.weight == 0) {
      return fail(ErrorKind::invalid, fmt::format("backend {} has weight 0", member.name), {},
                  "drain it, to keep new flows away");
    }
    if (member.weight > weight_max) {
      return fail(ErrorKind::invalid,
                  fmt::format("backend {} has weight {}, above {}", member.name, member.weight, weight_max),
                  {}, fmt::format("use a weight from 1 to {}", weight_max));
    }
    if (i > 0 && members[i - 1].name == member.name) {
      return fail(ErrorKind::invalid, fmt::format("backend {} is there twice", member.name), {},
                  "give each backend of a pool its own name");
    }
    if (i > 0 && members[i - 1].name > member.name) {
      return fail(ErrorKind::invalid,
                  fmt::format("backend {} stands behind {}", member.name, members[i - 1].name), {},
                  "list the members in byte order of their names");
    }
  }
  return {};
}

Result<void> check_row_count(std::uint32_t row_count) {
  if (row_count < rows_min || row_count > rows_max) {
    return fail(
        ErrorKind::invalid,
        row_count < rows_min ? fmt::format("rows {} is below {}", row_count, rows_min)
                             : fmt::format("rows {} is above {}", row_count, rows_max),
        {}, fmt::format("use a prime from {} to {}; {} suits most pools", rows_min, rows_max, rows_default));
  }
  if (is_prime(row_count)) return {};
  std::uint32_t below = row_count, above = row_count;  // the bounds are primes themselves
  while (!is_prime(below)) --below;
  while (!is_prime(above)) ++above;
  return fail(ErrorKind::invalid, fmt::format("rows {} is no prime", row_count), {},
              fmt::format("use {} or {}", below, above));
}

}  // namespace guideway
