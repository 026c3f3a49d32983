// sized: an options struct of libbpf with its size filled in, by which the library knows its version.
// Why: libbpf's own macro is a GNU statement expression with a compound literal, which is no C++.
#pragma once

namespace guideway::agent {

template <class Options>
[[nodiscard]] Options sized() {
  Options out{};
  out.sz = sizeof(out);
  return out;
}

}  // namespace guideway::agent
