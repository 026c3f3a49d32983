// XSK slot: whether a slot of an XSKMAP has a live socket.
// Why:  sockets leave the map with the process that made them, so this tells the program of a running director from
//       one that was left behind; the kernel does not let user space read such a map.
// How:  an idle socket is offered for the slot, if it is free, and leaves again.
// Thread: control. Only for a map whose sockets may come and go: an empty slot is filled for a moment.
#pragma once

#include <cstdint>

namespace guideway {

[[nodiscard]] bool xsk_slot_in_use(int map, std::uint32_t slot);

}  // namespace guideway
