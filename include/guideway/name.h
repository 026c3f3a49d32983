// Name: what services, pools, backends and ports are called: 1..63 bytes of [A-Za-z0-9._-].
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace guideway {

inline constexpr std::size_t name_size_max = 63;

[[nodiscard]] constexpr bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= name_size_max && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace guideway
