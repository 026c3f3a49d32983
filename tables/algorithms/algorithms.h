// Algorithms: the row of each for the registry; each is defined in the file of its name.
#pragma once

#include "guideway/algorithm.h"

namespace guideway::algorithm {

extern const Algorithm ring;
extern const Algorithm rendezvous;
extern const Algorithm maglev;
extern const Algorithm guideway;

}  // namespace guideway::algorithm
