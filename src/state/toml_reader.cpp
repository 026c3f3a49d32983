#include "state/toml_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/duration.h"
#include "state/excerpt.h"
#include "state/range.h"
#include "toml/key_depth.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

std::string_view type_word(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace

Result<TomlDocument> TomlDocument::parse(std::string_view toml, std::string_view name) {
  if (toml.size() > size_max)
    return fail(ErrorKind::invalid,
                fmt::format("the document has {} bytes, more than {}", toml.size(), size_max),
                std::string(name), "check that it is the right file");
  if (const auto line = line_of_deep_key(toml))
    return fail(ErrorKind::invalid, "a key has more than 64 parts with dots between them",
                fmt::format("{}:{}", name, *line), "write each key as the documentation has it");
  try {
    return TomlDocument(toml::parse(toml), std::string(name));
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    return fail(ErrorKind::invalid, excerpt(error.description()),
                fmt::format("{}:{}:{}", name, at.line, at.column), "correct the TOML syntax there");
  }
}

std::string TomlDocument::place(const toml::source_region& region) const {
  return fmt::format("{}:{}:{}", name_, region.begin.line, region.begin.column);
}

void TomlDocument::complain(const toml::source_region& region, std::string what, std::string next) {
  if (mistake_ && !(region.begin < mistake_at_)) return;
  mistake_ = Error{ErrorKind::invalid, std::move(what), place(region), std::move(next)};
  mistake_at_ = region.begin;
}

const toml::node* TomlSection::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.get(key);
}

const toml::node* TomlSection::require(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) missing_.emplace_back(key);
  return node;
}

void TomlSection::complain(std::string_view key, std::string what, std::string next) {
  const toml::node* node = table_.get(key);
  document_.complain(node == nullptr ? table_.source() : node->source(), std::move(what), std::move(next));
}

void TomlSection::wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
  document_.complain(node.source(), fmt::format("{} is {}", key, type_word(node)),
                     fmt::format("write {}", wanted));
}

void TomlSection::bad_word(const toml::node& node, std::string_view key, std::string_view value,
                           const std::string& allowed) {
  document_.complain(node.source(), fmt::format("{} \"{}\" is not known", key, excerpt(value)),
                     fmt::format("use {}", allowed));
}

std::optional<std::string_view> TomlSection::text_of(const toml::node& node, std::string_view key) {
  if (const auto* value = node.as_string()) return std::string_view(value->get());
  wrong_type(node, key, "a string in quotes");
  return std::nullopt;
}

std::optional<std::int64_t> TomlSection::integer_of(const toml::node& node, std::string_view key,
                                                    std::int64_t min, std::int64_t max) {
  const auto* value = node.as_integer();
  if (value == nullptr) {
    wrong_type(node, key, fmt::format("an integer from {} to {}", min, max));
    return std::nullopt;
  }
  if (auto error = out_of_range(key, value->get(), min, max)) {
    document_.complain(node.source(), error->what, error->next);
    return std::nullopt;
  }
  return value->get();
}

void TomlSection::text(std::string_view key, std::string& out, std::size_t size_max) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = text_of(*node, key);
  if (!value) return;
  if (value->size() > size_max)
    document_.complain(node->source(), fmt::format("{} has {} bytes", key, value->size()),
                       fmt::format("use at most {}", size_max));
  else
    out = *value;
}

void TomlSection::flag(std::string_view key, bool& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (const auto* value = node->as_boolean())
    out = value->get();
  else
    wrong_type(*node, key, "true or false");
}

void TomlSection::number(std::string_view key, double& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (const auto* value = node->as_floating_point())
    out = value->get();
  else if (const auto* whole = node->as_integer())
    out = static_cast<double>(whole->get());
  else
    wrong_type(*node, key, "a number");
}

void TomlSection::duration(std::string_view key, std::chrono::milliseconds& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (node->as_string() == nullptr)
    return wrong_type(*node, key, "a time with its unit: \"500ms\", \"2s\", \"15m\"");
  const auto value = text_of(*node, key);
  if (auto span = parse_duration(*value))
    out = *span;
  else
    document_.complain(node->source(), fmt::format("{} \"{}\" is no span of time", key, excerpt(*value)),
                       "write a whole number and ms, s, m or h: \"500ms\", \"2s\", \"15m\"");
}

std::optional<IpAddress> TomlSection::address(std::string_view key, bool required) {
  const toml::node* node = required ? require(key) : find(key);
  if (node == nullptr) return std::nullopt;
  const auto value = text_of(*node, key);
  if (!value) return std::nullopt;
  auto parsed = IpAddress::parse(*value);
  if (!parsed)
    document_.complain(node->source(),
                       fmt::format("{} \"{}\" is no IPv4 or IPv6 address", key, excerpt(*value)),
                       "write it like \"10.0.1.11\" or \"fd00::11\"");
  return parsed;
}

std::vector<const toml::table*> TomlSection::tables(std::string_view key) {
  std::vector<const toml::table*> out;
  const toml::node* node = find(key);
  if (node == nullptr) return out;
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    wrong_type(*node, key, fmt::format("[[{}]] with double brackets, once for each", key));
    return out;
  }
  out.reserve(array->size());
  for (const toml::node& element : *array) {
    if (const toml::table* table = element.as_table())
      out.push_back(table);
    else
      wrong_type(element, key, fmt::format("a table: [[{}]]", key));
  }
  return out;
}

const toml::table* TomlSection::subtable(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (const toml::table* table = node->as_table()) return table;
  wrong_type(*node, key, fmt::format("a table: {} = {{ … }}", key));
  return nullptr;
}

void TomlSection::refuse_unknown_keys() {
  bool any_unknown = false;
  for (const auto& [key, node] : table_) {
    const std::string text(key.str());
    if (std::find(known_.begin(), known_.end(), text) != known_.end()) continue;
    any_unknown = true;
    document_.complain(key.source(), fmt::format("{} has no key \"{}\"", kind_, excerpt(text)),
                       near_match(text, known_)
                           ? fmt::format("did you mean \"{}\"?", *near_match(text, known_))
                           : fmt::format("known keys: {}", fmt::join(known_, ", ")));
  }
  // A key that was typed wrong is not missing.
  if (any_unknown) return;
  for (const std::string& key : missing_)
    document_.complain(table_.source(), fmt::format("{} has no {}", kind_, key),
                       fmt::format("add {} = …", key));
}

}  // namespace guideway
