// sized: an options struct of libbpf that says how much of it there is.
// What: all zero, with `sz` reaching to the end of the last field, which libbpf's headers name TYPE__last_field.
// Why:  libbpf refuses a struct with anything but zero behind the fields it knows. With the size of the whole struct
//       that would be the padding at its end, which copies and optimisers do not keep; so the padding is left out.
//       libbpf's own macro is a GNU statement expression with a compound literal, which is no C++.
// Use:  auto hook = sized(&bpf_tc_hook::bpf_tc_hook__last_field);
#pragma once

#include <cstddef>
#include <type_traits>

namespace guideway::agent {

template <class Options, class Last>
[[nodiscard]] Options sized(Last Options::*last) {
  static_assert(std::is_trivial_v<Options> && std::is_standard_layout_v<Options>);
  Options out{};
  const auto* end = reinterpret_cast<const std::byte*>(&(out.*last) + 1);
  out.sz = static_cast<std::size_t>(end - reinterpret_cast<const std::byte*>(&out));
  return out;
}

}  // namespace guideway::agent
