#include "command/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "command/site_view.h"
#include "state/words.h"

namespace guideway {
namespace {

using nlohmann::json;

constexpr std::size_t sentences_max = 100;

template <class List>
auto by_name(const List& objects) {
  std::map<std::string_view, const typename List::value_type*> out;
  for (const auto& object : objects) out.emplace(object.name, &object);
  return out;
}

// Calls removed(x), added(x), both(before, after), in name order of each side.
template <class List, class Removed, class Added, class Both>
void walk(const List& before, const List& after, Removed removed, Added added, Both both) {
  const auto old_ones = by_name(before);
  const auto new_ones = by_name(after);
  for (const auto& [name, object] : old_ones) {
    if (!new_ones.contains(name)) removed(*object);
  }
  for (const auto& [name, object] : new_ones) {
    const auto old_one = old_ones.find(name);
    if (old_one == old_ones.end()) {
      added(*object);
    } else if (old_one->second != object && !(*old_one->second == *object)) {
      both(*old_one->second, *object);
    }
  }
}

std::string changed_backend(const Backend& before, const Backend& after) {
  std::string out;
  const auto also = [&out](std::string part) { out += (out.empty() ? "" : ", ") + part; };
  if (before.state != after.state) {
    also(fmt::format("is {} (was {})", word(after.state), word(before.state)));
  }
  if (before.weight != after.weight) also(fmt::format("has weight {} (had {})", after.weight, before.weight));
  if (before.address != after.address) {
    also(fmt::format("has address {} (had {})", after.address.text(), before.address.text()));
  }
  return out;
}

// "timeouts.udp" -> "60s".
std::map<std::string, std::string> settings_of(const Pool& pool) {
  std::map<std::string, std::string> out;
  const json flat = settings_json(pool).flatten();
  for (const auto& [path, value] : flat.items()) {
    std::string key = path.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    out.emplace(std::move(key), value.is_string() ? value.get<std::string>() : value.dump());
  }
  return out;
}

void pool_sentences(const Pool& before, const Pool& after, std::vector<std::string>& out) {
  walk(
      before.backends, after.backends,
      [&](const Backend& b) {
        out.push_back(fmt::format("pool {}: backend {} removed", after.name, b.name));
      },
      [&](const Backend& b) {
        out.push_back(fmt::format("pool {}: backend {} added ({}, weight {}, {})", after.name, b.name,
                                  b.address.text(), b.weight, word(b.state)));
      },
      [&](const Backend& was, const Backend& is) {
        out.push_back(fmt::format("pool {}: backend {} {}", after.name, is.name, changed_backend(was, is)));
      });
  const auto was = settings_of(before), is = settings_of(after);
  std::set<std::string> keys;
  for (const auto* side : {&was, &is})
    for (const auto& [key, value] : *side) keys.insert(key);
  const auto text = [](const auto& settings, const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string("left out") : found->second;
  };
  for (const std::string& key : keys)
    if (text(was, key) != text(is, key))
      out.push_back(
          fmt::format("pool {}: {} is {} (was {})", after.name, key, text(is, key), text(was, key)));
}

}  // namespace

std::vector<std::string> difference(const Site& before, const Site& after) {
  std::vector<std::string> out;
  if (before.hash_seed != after.hash_seed) out.emplace_back("site: hash_seed changed");
  walk(
      before.pools, after.pools,
      [&](const Pool& p) { out.push_back(fmt::format("pool {} removed", p.name)); },
      [&](const Pool& p) {
        out.push_back(fmt::format("pool {} added with {} backends", p.name, p.backends.size()));
      },
      [&](const Pool& was, const Pool& is) { pool_sentences(was, is, out); });
  walk(
      before.services, after.services,
      [&](const Service& s) { out.push_back(fmt::format("service {} removed", s.name)); },
      [&](const Service& s) {
        out.push_back(fmt::format("service {} added ({} to pool {})", s.name, service_target(s), s.pool));
      },
      [&](const Service&, const Service& is) {
        out.push_back(fmt::format("service {} is {} to pool {}", is.name, service_target(is), is.pool));
      });
  if (out.size() > sentences_max) {
    const std::size_t more = out.size() - sentences_max;
    out.resize(sentences_max);
    out.push_back(fmt::format("and {} more", more));
  }
  return out;
}

}  // namespace guideway
