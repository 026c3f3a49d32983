#include "command/placement_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "command/values.h"
#include "guideway/compare.h"
#include "tables/members.h"

namespace guideway {

Result<std::uint32_t> number_option(const Arguments& arguments, std::string_view option, std::uint32_t usual,
                                    NumberRange range) {
  const auto text = arguments.find(option);
  if (!text) return usual;
  const auto number = number_value(*text);
  if (!number) return wrong_option(number.error(), option);
  if (*number >= range.least && *number <= range.most) return static_cast<std::uint32_t>(*number);
  return wrong_option({ErrorKind::invalid,
                       fmt::format("{} is out of range", *number),
                       {},
                       fmt::format("use {} to {}", range.least, range.most)},
                      option);
}

std::uint64_t seed_option(const Arguments& arguments, std::uint64_t usual) {
  const auto text = arguments.find("seed");
  return text ? seed_value(*text).value_or(usual) : usual;
}

Result<std::vector<std::uint32_t>> weights_option(const Arguments& arguments) {
  const auto text = arguments.find("weights");
  if (!text) return std::vector<std::uint32_t>();
  auto weights = parse_weights(*text);
  if (!weights) return wrong_option(weights.error(), "weights");
  return weights;
}

Result<std::uint32_t> rows_option(const Arguments& arguments, std::uint32_t usual) {
  const auto rows = number_option(arguments, "rows", usual, {0, std::numeric_limits<std::uint32_t>::max()});
  if (!rows) return rows;
  if (auto good = check_row_count(*rows); !good) return wrong_option(good.error(), "rows");
  return rows;
}

std::vector<std::string_view> listed(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

tl::unexpected<Error> wrong_option(Error error, std::string_view option) {
  if (error.where.empty()) error.where = "--" + std::string(option);
  error.kind = ErrorKind::usage;  // what is wrong is the line that was typed
  return tl::unexpected(std::move(error));
}

}  // namespace guideway
