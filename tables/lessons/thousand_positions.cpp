// Thousand positions: what a weak hash of names does to a ring.
// What: a name's place is the fold of h * 31 + c over 32 bits, modulo 1,000; a place that is taken is nudged forward.
#include <fmt/format.h>

#include <set>

#include "tables/algorithms/hash_ring.h"
#include "tables/lessons/figures.h"
#include "tables/lessons/lessons.h"

namespace guideway {
namespace {

constexpr std::uint32_t thousand = 1000;

std::uint32_t folded_place(std::string_view name) {
  std::uint32_t h = 0;
  for (const char c : name) h = h * 31 + static_cast<std::uint8_t>(c);
  return h % thousand;
}

// A ring of names, each nudged forward to the next place that is free.
HashRing folded_ring(std::span<const std::string_view> names) {
  std::set<std::uint32_t> taken;
  std::vector<RingPoint> points;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::uint32_t place = folded_place(names[i]);
    while (!taken.insert(place).second) place = (place + 1) % thousand;
    points.push_back({.at = place, .member = static_cast<MemberIndex>(i)});
  }
  return HashRing(std::move(points));
}

double percent_owned(const HashRing& ring, MemberIndex member) {
  int owned = 0;
  for (std::uint32_t place = 0; place < thousand; ++place) owned += ring.owner(place) == member;
  return 100.0 * owned / thousand;
}

std::vector<Figure> run_thousand_positions() {
  const struct {
    std::string_view name;
    double place;
  } known[] = {{"cache-south", 306}, {"cache-remote", 473}, {"cache-central", 690}, {"cache-north", 818}};
  std::vector<Figure> figures;
  std::vector<std::string_view> names;
  for (const auto& k : known) {
    figures.push_back(number_figure(fmt::format("the place of {}", k.name), folded_place(k.name),
                                    Published{k.place, 0}, 0));
    names.push_back(k.name);
  }
  const std::span<const std::string_view> four(names);
  figures.push_back(number_figure("what cache-south owns among the first three",
                                  percent_owned(folded_ring(four.first(3)), 0), Published{61.6, 0.05}, 1,
                                  " %"));
  figures.push_back(
      number_figure("and once cache-north is there", percent_owned(folded_ring(four), 0), {}, 1, " %"));

  const std::string_view row[] = {"cache-a", "cache-b", "cache-c", "cache-d",
                                  "cache-e", "cache-f", "cache-g", "cache-h"};
  const HashRing ring = folded_ring(row);
  figures.push_back(word_figure("where cache-a to cache-h lie",
                                fmt::format("{} to {}", ring.at(0), ring.at(ring.size() - 1)), "246 to 253"));
  figures.push_back(number_figure("what cache-a owns among them", percent_owned(ring, 0), {}, 1, " %"));
  const std::string_view twice[] = {"cache-a", "cache-b", "cache-a"};
  figures.push_back(number_figure("where a name lies whose place and the next are taken",
                                  static_cast<double>(folded_ring(twice).at(2)), {}, 0));
  return figures;
}

}  // namespace

constexpr Lesson lesson::thousand_positions{.name = "thousand-positions",
                                            .teaches =
                                                "a few nodes with a point each share badly, and names that "
                                                "differ in one letter lie side by side under a "
                                                "weak hash",
                                            .run = run_thousand_positions};

}  // namespace guideway
