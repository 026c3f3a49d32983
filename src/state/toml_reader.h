// TOML reader: a document's tables read key by key, every mistake with its line and column.
// What: TomlDocument collects mistakes; TomlSection reads the keys of one table and knows which are left over.
// Why:  the site and the director's file must complain in the same words, and about the topmost mistake.
// Not:  what the values mean together; site_check.h does that.
// Errors: getters answer with the default after noting the mistake, so that readers read as lists of keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "guideway/address.h"
#include "guideway/result.h"
#include "state/words.h"
#include "toml/text_file.h"

namespace guideway {

class TomlDocument {
 public:
  static constexpr std::size_t size_max = text_bytes_max;

  // Syntax errors are the Result's; `name` stands in front of every line and column.
  [[nodiscard]] static Result<TomlDocument> parse(std::string_view toml, std::string_view name);

  [[nodiscard]] const toml::table& root() const { return root_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string place(const toml::source_region& region) const;

  void complain(const toml::source_region& region, std::string what, std::string next = {});
  // The topmost mistake so far.
  [[nodiscard]] const std::optional<Error>& mistake() const { return mistake_; }

 private:
  TomlDocument(toml::table root, std::string name) : root_(std::move(root)), name_(std::move(name)) {}
  toml::table root_;
  std::string name_;
  std::optional<Error> mistake_;
  toml::source_position mistake_at_{};
};

class TomlSection {
 public:
  // `kind` names the table in messages: "pool", "backend", "[director]".
  TomlSection(TomlDocument& document, const toml::table& table, std::string kind)
      : document_(document), table_(table), kind_(std::move(kind)) {}

  [[nodiscard]] const toml::table& table() const { return table_; }
  [[nodiscard]] TomlDocument& document() const { return document_; }
  // Marks the key as known and answers with its value, if it is there.
  [[nodiscard]] const toml::node* find(std::string_view key);
  // The same; refuse_unknown_keys() complains where it is missing.
  [[nodiscard]] const toml::node* require(std::string_view key);

  void text(std::string_view key, std::string& out, std::size_t size_max);
  void flag(std::string_view key, bool& out);
  void number(std::string_view key, double& out);
  // Leaves `out` alone where the key is missing or the value is outside [min, max].
  template <class Integer>
  void integer(std::string_view key, Integer& out, std::int64_t min, std::int64_t max) {
    if (const toml::node* node = find(key))
      if (auto value = integer_of(*node, key, min, max)) out = static_cast<Integer>(*value);
  }
  template <class E>
  void word(std::string_view key, E& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (auto value = text_of(*node, key)) {
      if (auto found = find_word<E>(*value))
        out = *found;
      else
        bad_word(*node, key, *value, all_words<E>());
    }
  }
  void duration(std::string_view key, std::chrono::milliseconds& out);
  [[nodiscard]] std::optional<IpAddress> address(std::string_view key, bool required);
  // The tables of [[key]]; complains where the key is something else.
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key);
  [[nodiscard]] const toml::table* subtable(std::string_view key);

  [[nodiscard]] std::optional<std::string_view> text_of(const toml::node& node, std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer_of(const toml::node& node, std::string_view key,
                                                       std::int64_t min, std::int64_t max);
  // About the value of a key, wherever it stands, or about the table that lacks it.
  void complain(std::string_view key, std::string what, std::string next);
  void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);
  void bad_word(const toml::node& node, std::string_view key, std::string_view value,
                const std::string& allowed);
  // Complains about every key that nobody asked for, and else about those that are missing.
  void refuse_unknown_keys();

 private:
  TomlDocument& document_;
  const toml::table& table_;
  std::string kind_;
  std::vector<std::string> known_, missing_;
};

}  // namespace guideway
