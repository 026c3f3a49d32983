// Companion: the tc filter that sends marked packets on.
// What: puts it on the interface's ingress and takes it away, and the clsact qdisc with it if that was ours.
// Not:  filters of others: they are neither counted on nor touched.
#pragma once

#include "agent/interface.h"

namespace guideway::agent {

// Answers whether the clsact qdisc had to be made. A companion that is there already is replaced, atomically.
[[nodiscard]] Result<bool> put_companion(const Interface& interface, int program);
// Answers whether there was one.
bool remove_companion(const Interface& interface, bool clsact_is_our);

}  // namespace guideway::agent
