// Pool rows: a pool's seating, states and health brought together into rows, and into what becomes of its flows.
// Not:  how rows are computed (guideway/rows.h).
#pragma once

#include <vector>

#include "state/plan.h"

namespace guideway {

// The pool's backend behind each member of its seating, in the members' order (byte order of names).
[[nodiscard]] std::vector<const Backend*> backends_by_member(const Seating& seating, const Pool& pool);
[[nodiscard]] std::vector<BackendState> states_of(const Seating& seating, const Pool& pool);
// Whether a flow stays on its member, however the row stands: a TCP one, and a UDP one.
[[nodiscard]] bool keeps_tcp(const MemberStatus& status, OnDown on_down);
[[nodiscard]] bool keeps_udp(const MemberStatus& status, bool takes_new);

}  // namespace guideway
