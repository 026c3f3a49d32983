// Values: what a word on the command line may be, and what it means.
// What: one parser a kind; the parser of commands checks with them, the handlers read with them.
// Why:  a wrong word is refused before anything is asked or locked, with the same sentence everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "command/table.h"
#include "guideway/result.h"
#include "state/prefix.h"
#include "state/site.h"

namespace guideway {

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
};

[[nodiscard]] Result<IpAddress> address_value(std::string_view text);
[[nodiscard]] Result<Prefix> prefix_value(std::string_view text);
[[nodiscard]] Result<Endpoint> endpoint_value(std::string_view text);
[[nodiscard]] Result<std::vector<PortRange>> ports_value(std::string_view text);  // empty: any
[[nodiscard]] Result<std::uint32_t> weight_value(std::string_view text);
[[nodiscard]] Result<std::uint64_t> number_value(std::string_view text);
[[nodiscard]] Result<std::uint64_t> seed_value(std::string_view text);
[[nodiscard]] Result<std::chrono::milliseconds> duration_value(std::string_view text);
[[nodiscard]] Result<HealthCheck> check_value(std::string_view text);
// A 64-bit value for JSON: "0x" and 16 digits.
[[nodiscard]] std::string hex64(std::uint64_t value);

// Whether `text` can stand for the parameter.
[[nodiscard]] Result<void> validate(const Parameter& parameter, std::string_view text);

}  // namespace guideway
