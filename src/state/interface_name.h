// Interface name: names of network interfaces that a director's file may give.
// Why:  stricter than Linux, so that nothing is taken for a path or for another device argument.
#pragma once

#include "guideway/name.h"

namespace guideway {

inline constexpr std::size_t interface_size_max = 15;  // IFNAMSIZ with its end

[[nodiscard]] constexpr bool is_interface_name(std::string_view text) {
  return is_name(text) && text.size() <= interface_size_max && text != "." && text != "..";
}

}  // namespace guideway
