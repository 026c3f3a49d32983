// Flow state: all that one worker remembers between bursts. Losing it breaks no connection.
#pragma once

#include "dataplane/flow_table.h"
#include "dataplane/fragment_table.h"
#include "dataplane/stranger_table.h"

namespace guideway {

struct FlowState {
  // `flows`: room of the flow table. `secret`: the same for all workers, so that they can ask each other.
  FlowState(std::size_t flows, std::uint64_t secret) : table(flows), fragments(secret) {}

  FlowTable table;
  FragmentTable fragments;
  StrangerTable strangers;
};

}  // namespace guideway
