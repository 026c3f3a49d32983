// Reach variants: the loops of reach.h for a processor's wider registers, each in a file of its own.
// Why: nobody else needs them by name; reach.cpp picks. The functions exist on x86-64 only.
#pragma once

#include "tables/reach.h"

namespace guideway {

extern const ReachVariant reach_avx2;    // runs where the processor has AVX2
extern const ReachVariant reach_avx512;  // runs where the processor has AVX-512 F and DQ

}  // namespace guideway
