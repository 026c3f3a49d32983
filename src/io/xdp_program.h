// XDP program: ours, from the object in this binary to the interface of an af_xdp port.
// What: the object as a file, for DPDK's driver, which loads it; and what can be known to fail before the driver
//       tries, since it tells no reasons.
// Why:  a program that a killed director left behind would keep the new one out, and somebody else's must stay.
// Not:  its list of service addresses (steering.h).
// Thread: control.
#pragma once

#include <string>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

// Name of the program in the object, by which it is known on an interface.
inline constexpr const char* steering_program = "steer";

// A path that can be opened as long as this process lives.
[[nodiscard]] Result<std::string> steering_object();

// The program on the interface; empty: none.
[[nodiscard]] Fd attached_program(const std::string& interface);

// Refused: a kernel without AF_XDP; a program on the interface that is not ours, or that a running director uses. One
// that a director left behind is taken off.
[[nodiscard]] Result<void> clear_interface(const std::string& interface);

// Puts the program on and takes it off again; the interface has the MTU and the queues that it is to have. Refused:
// whatever the kernel or the interface's driver has against it.
[[nodiscard]] Result<void> rehearse_program(const std::string& interface);

}  // namespace guideway
