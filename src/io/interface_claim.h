// Interface claim: one daemon an interface, in each network namespace.
// What: a socket of an abstract name, which the kernel gives to one process of a network namespace and takes back with
//       it, whatever that process dies of: nothing is left to sweep up.
// Why:  two daemons on one interface would each forward every packet, and nobody would see why all come twice.
// Not:  a lock against others than guidewayd; and whoever may not open the device cannot keep it from us by its name.
// Thread: control.
#pragma once

#include <string>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

// Holds while the descriptor is open. Refused: the process that has it, by its number.
[[nodiscard]] Result<Fd> claim_interface(const std::string& interface);

}  // namespace guideway
