#include "tables/log2_table.h"

namespace guideway {

constinit const std::array<std::uint64_t, 1025> log2_table = make_log2_table();

}  // namespace guideway
