// sized: an options struct of libbpf with its size filled in, by which the library knows its version.
// Why: libbpf's own macro is a GNU statement expression with a compound literal, which is no C++.
//      It also refuses a struct whose padding is not zero, and `= {}` leaves padding as it is.
#pragma once

#include <cstring>
#include <type_traits>

namespace guideway::agent {

template <class Options>
[[nodiscard]] Options sized() {
  static_assert(std::is_trivial_v<Options>);
  Options out;  // made where the caller keeps it, so that its padding stays zero
  std::memset(&out, 0, sizeof(out));
  out.sz = sizeof(out);
  asm volatile(
      ""
      : "+m"(out));  // one object in memory: optimisers keep fields apart and lose what is between them
  return out;
}

}  // namespace guideway::agent
