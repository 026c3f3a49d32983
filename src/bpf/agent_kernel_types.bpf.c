/* agent_kernel_types: the same programs for kernels that carry their own BTF, where a half-open connection can be
 * told from one of another backend (second_chance.h), and a closed one from a newer one (time_wait.h). */
#define GW_KERNEL_TYPES
#include "agent.bpf.c"
