// Words: the names that documents, commands and answers use for the values of the site's enumerations.
// What: one table an enumeration, read in both directions.
// Why:  the parser, the printer, the commands and JSON must never differ in a word.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "state/director_config.h"
#include "state/site.h"

namespace guideway {

template <class E>
struct Words;  // specialised below: `table` of {word, value}

template <class E, std::size_t N>
using WordTable = std::array<std::pair<std::string_view, E>, N>;

template <>
struct Words<BackendState> {
  static constexpr WordTable<BackendState, 3> table{{{"active", BackendState::active},
                                                     {"draining", BackendState::draining},
                                                     {"disabled", BackendState::disabled}}};
};
template <>
struct Words<Health> {
  static constexpr WordTable<Health, 3> table{
      {{"up", Health::up}, {"down", Health::down}, {"unknown", Health::unknown}}};
};
template <>
struct Words<DealMode> {
  static constexpr WordTable<DealMode, 2> table{
      {{"stable", DealMode::stable}, {"scratch", DealMode::scratch}}};
};
template <>
struct Words<Affinity> {
  static constexpr WordTable<Affinity, 2> table{{{"flow", Affinity::flow}, {"client", Affinity::client}}};
};
template <>
struct Words<NoneHealthy> {
  static constexpr WordTable<NoneHealthy, 2> table{{{"all", NoneHealthy::all}, {"drop", NoneHealthy::drop}}};
};
template <>
struct Words<Encapsulation> {
  static constexpr WordTable<Encapsulation, 4> table{{{"gue", Encapsulation::gue},
                                                      {"ipip", Encapsulation::ipip},
                                                      {"gre", Encapsulation::gre},
                                                      {"l2", Encapsulation::l2}}};
};
template <>
struct Words<TooBig> {
  static constexpr WordTable<TooBig, 2> table{{{"fragment", TooBig::fragment}, {"drop", TooBig::drop}}};
};
template <>
struct Words<OnDown> {
  static constexpr WordTable<OnDown, 2> table{{{"keep", OnDown::keep}, {"move", OnDown::move}}};
};
template <>
struct Words<HealthCheckType> {
  static constexpr WordTable<HealthCheckType, 3> table{
      {{"none", HealthCheckType::none}, {"tcp", HealthCheckType::tcp}, {"http", HealthCheckType::http}}};
};
template <>
struct Words<Unmatched> {
  static constexpr WordTable<Unmatched, 2> table{{{"kernel", Unmatched::kernel}, {"drop", Unmatched::drop}}};
};
template <>
struct Words<Ping> {
  static constexpr WordTable<Ping, 3> table{
      {{"answer", Ping::answer}, {"forward", Ping::forward}, {"kernel", Ping::kernel}}};
};
template <>
struct Words<Polling> {
  static constexpr WordTable<Polling, 2> table{{{"busy", Polling::busy}, {"adaptive", Polling::adaptive}}};
};

template <class E>
[[nodiscard]] constexpr std::string_view word(E value) {
  for (const auto& [text, candidate] : Words<E>::table)
    if (candidate == value) return text;
  return "?";
}

template <class E>
[[nodiscard]] constexpr std::optional<E> find_word(std::string_view text) {
  for (const auto& [candidate, value] : Words<E>::table)
    if (candidate == text) return value;
  return std::nullopt;
}

// "active, draining or disabled", for messages.
template <class E>
[[nodiscard]] std::string all_words() {
  std::string out;
  const auto& table = Words<E>::table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i != 0) out += i + 1 == table.size() ? " or " : ", ";
    out += table[i].first;
  }
  return out;
}

// Protocol numbers of services.
inline constexpr std::uint8_t protocol_tcp = 6, protocol_udp = 17;
[[nodiscard]] constexpr std::string_view protocol_word(std::uint8_t protocol) {
  return protocol == protocol_tcp ? "tcp" : protocol == protocol_udp ? "udp" : "?";
}

}  // namespace guideway
