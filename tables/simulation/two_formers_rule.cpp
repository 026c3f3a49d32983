#include "tables/simulation/two_formers_rule.h"

#include <algorithm>

namespace guideway {
namespace {

enum class Place : std::uint8_t { gone, up, down };

std::vector<Place> places_in(const Fleet& fleet) {
  std::vector<Place> out(nobody + std::size_t{1}, Place::gone);
  for (const SimulatedBackend& backend : fleet.backends()) {
    out[backend.number] = backend.health == Health::down ? Place::down : Place::up;
  }
  return out;
}

// In this order and without repeats; behind the first, those that are down come last.
RowHops cut_to_three(std::span<const BackendNumber> named, const std::vector<Place>& places) {
  RowHops out{named[0], nobody, nobody};
  std::size_t count = 1;
  for (const Place wanted : {Place::up, Place::down}) {
    for (const BackendNumber number : named.subspan(1)) {
      if (count == out.size()) return out;
      if (places[number] != wanted ||
          std::find(out.begin(), out.begin() + count, number) != out.begin() + count) {
        continue;
      }
      out[count++] = number;
    }
  }
  return out;
}

}  // namespace

void TwoFormersRule::change(const Fleet& fleet) {
  SeatedRule::change(fleet);
  const std::vector<Place> places = places_in(fleet);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    Past& past = past_[row];
    const BackendNumber holder = number_of(seating().holder[row]);
    const Past before = past;
    past = {number_of(seating().former[row]), nobody};
    for (const BackendNumber older : {before.former, before.elder}) {
      if (places[older] == Place::gone || older == holder || older == past.former) continue;
      past.elder = older;
      break;
    }
    const RowHops by_contract = rows_[row];
    const std::array named{by_contract[0], holder, past.former, past.elder, by_contract[1], by_contract[2]};
    rows_[row] = cut_to_three(named, places);
  }
}

}  // namespace guideway
