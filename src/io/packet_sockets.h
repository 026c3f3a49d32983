// Packet sockets: the kernel's end of an af_packet device.
// Why:  the driver's sockets also get a copy of every frame that the host itself sends by the interface; each would
//       cost a look and be counted as a frame for somebody else. And the driver has the kernel put IPv4 datagrams together
//       from their fragments before it hands them out: more than a slot of the ring holds, so that each is cut and
//       dropped.
// How:  the driver hands its sockets out to nobody; they are found among the process's open files by the interface
//       that they are bound to. A filter on each says no to outgoing frames; PACKET_IGNORE_OUTGOING is not heeded
//       for sockets in a fanout group, which the driver makes (packet(7)). How that group treats fragments is settled when
//       it is made, and the driver has no option for it: so this program's setsockopt, which stands before the C library's
//       in every shared object's eyes, takes the flag PACKET_FANOUT_FLAG_DEFRAG off, and changes nothing else.
// Thread: control, before workers receive.
#pragma once

#include <string>

namespace guideway {

// Frames that the host sends by `interface` no longer come in at the sockets bound to it. Returns how many sockets
// were told.
unsigned ignore_outgoing(const std::string& interface);

}  // namespace guideway
