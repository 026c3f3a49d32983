// Algorithms: the row of each for the registry; each is defined in the file of its name.
#pragma once

#include "guideway/algorithm.h"

namespace guideway::algorithm {

extern const Algorithm modulo;
extern const Algorithm ring;
extern const Algorithm ketama;
extern const Algorithm envoy_ring;
extern const Algorithm bounded_loads;
extern const Algorithm multi_probe;
extern const Algorithm rendezvous;
extern const Algorithm jump;
extern const Algorithm anchor;
extern const Algorithm memento;
extern const Algorithm maglev;
extern const Algorithm slots;
extern const Algorithm glb_rows;
extern const Algorithm guideway;

}  // namespace guideway::algorithm
