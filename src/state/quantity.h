// Quantity: numbers as a person reads them in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace guideway {

[[nodiscard]] std::string grouped(std::uint64_t number);                         // 65,537
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);  // "1 row", "2 rows"

}  // namespace guideway
