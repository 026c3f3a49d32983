#include "tables/preference.h"

#include "tables/xxh3.h"

namespace guideway {
namespace {

// The inverse of `value` modulo the prime `modulus`, by the extended Euclidean algorithm.
std::uint32_t inverse_modulo(std::uint32_t value, std::uint32_t modulus) {
  std::uint32_t high = modulus, low = value;
  std::int64_t factor_high = 0, factor_low = 1;  // factor * value == high or low, modulo modulus
  while (low > 1) {
    const std::uint32_t times = high / low;
    const std::uint32_t rest = high - times * low;
    const std::int64_t factor_rest = factor_high - std::int64_t{times} * factor_low;
    high = low, low = rest;
    factor_high = factor_low, factor_low = factor_rest;
  }
  return static_cast<std::uint32_t>(factor_low < 0 ? factor_low + modulus : factor_low);
}

}  // namespace

Preference preference_of(std::string_view name, std::uint64_t seed, std::uint32_t row_count) {
  return {.offset = static_cast<std::uint32_t>(xxh3(name, seed + 1) % row_count),
          .skip = static_cast<std::uint32_t>(1 + xxh3(name, seed + 2) % (row_count - 1))};
}

PreferencePosition::PreferencePosition(Preference preference, std::uint32_t row_count)
    : offset_(preference.offset),
      row_count_(row_count),
      inverse_(inverse_modulo(preference.skip, row_count)),
      inverse_by_rows_((std::uint64_t{inverse_} << 32) / row_count) {}

}  // namespace guideway
