// The change that algorithms are compared by, and the fleet it happens to, as a person writes them.
#include <fmt/format.h>

#include <charconv>

#include "guideway/compare.h"
#include "guideway/name.h"

namespace guideway {
namespace {

Result<std::uint32_t> parse_node_weight(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc{} && end == text.data() + text.size() && value >= 1 && value <= weight_max) {
    return value;
  }
  return fail(ErrorKind::invalid, fmt::format("\"{}\" is no weight", text), {},
              "use a whole number from 1 to 65535");
}

tl::unexpected<Error> no_change(std::string_view text) {
  return fail(ErrorKind::invalid, fmt::format("\"{}\" is no change", text), {},
              "write add, remove:NAME or weight:NAME=W");
}

}  // namespace

Result<ComparedChange> parse_compared_change(std::string_view text) {
  using Kind = ComparedChange::Kind;
  ComparedChange out;
  const std::size_t colon = text.find(':');
  const std::string_view verb = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (verb == "add") {
    out.kind = Kind::add;
    if (colon == std::string_view::npos) return out;
  } else if (verb == "weight") {
    out.kind = Kind::weight;
  } else if (verb != "remove") {
    return no_change(text);
  }
  const std::size_t equals = rest.find('=');
  const bool weighed = equals != std::string_view::npos;
  if (out.kind == Kind::weight ? !weighed : out.kind == Kind::remove && weighed) return no_change(text);
  if (weighed) {
    const auto weight = parse_node_weight(rest.substr(equals + 1));
    if (!weight) return tl::unexpected(weight.error());
    out.weight = *weight;
    rest = rest.substr(0, equals);
  }
  if (!is_name(rest)) return no_change(text);
  out.name = rest;
  return out;
}

std::string compared_change_text(const ComparedChange& change) {
  switch (change.kind) {
    case ComparedChange::Kind::add:
      return fmt::format("add:{}={}", change.name, change.weight);
    case ComparedChange::Kind::remove:
      return fmt::format("remove:{}", change.name);
    case ComparedChange::Kind::weight:
      break;
  }
  return fmt::format("weight:{}={}", change.name, change.weight);
}

Result<std::vector<std::uint32_t>> parse_weights(std::string_view text) {
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto weight = parse_node_weight(text.substr(at, comma - at));
    if (!weight) return tl::unexpected(weight.error());
    if (out.size() == members_max) {
      return fail(ErrorKind::invalid, fmt::format("more than {} weights", members_max), {}, "give fewer");
    }
    out.push_back(*weight);
    at = comma + 1;
  }
  return out;
}

std::vector<Node> numbered_nodes(std::size_t count, std::span<const std::uint32_t> weights) {
  const std::size_t width = std::to_string(count + 1).size();
  std::vector<Node> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({.name = fmt::format("b{:0{}}", i + 1, width),
                   .weight = weights.empty() ? 100 : weights[i % weights.size()]});
  }
  return out;
}

}  // namespace guideway
