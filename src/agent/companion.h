// Companion: the tc filter that sends marked packets on.
// What: puts it on the interface's ingress and takes it away, and the clsact qdisc with it if that is ours.
// Why:  an agent that was killed between its steps remembers nothing, so a qdisc that nobody else uses is ours.
// Not:  filters of others: they are neither counted on nor touched.
#pragma once

#include "agent/interface.h"

namespace guideway::agent {

enum class Clsact : std::uint8_t {
  made,     // it was not there
  adopted,  // it was there, empty or with our filter alone
  foreign,  // it holds filters of others
};

// A companion that is there already is replaced, atomically.
[[nodiscard]] Result<Clsact> put_companion(const Interface& interface, int program);
// The filter; and the qdisc, if it is ours and nothing else is in it. Answers whether there was a filter.
bool remove_companion(const Interface& interface, bool clsact_is_our);

}  // namespace guideway::agent
