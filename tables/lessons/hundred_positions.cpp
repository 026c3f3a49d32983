// Hundred positions: the smallest ring one can follow by eye, four nodes on a hundred positions.
#include <fmt/format.h>

#include <vector>

#include "tables/algorithms/hash_ring.h"
#include "tables/lessons/figures.h"
#include "tables/lessons/lessons.h"

namespace guideway {
namespace {

constexpr const char* small_ring_names = "ABCDE";
constexpr std::uint64_t small_ring_positions = 100;

HashRing small_ring(std::initializer_list<RingPoint> points) { return HashRing(points); }

std::string owner_on(const HashRing& ring, std::uint64_t key) { return {small_ring_names[ring.owner(key)]}; }

// "36 to 50, to E": the positions whose owner differs, if they lie side by side and go to one node.
std::string positions_that_move(const HashRing& before, const HashRing& after) {
  std::vector<std::uint64_t> moved;
  for (std::uint64_t position = 0; position < small_ring_positions; ++position) {
    if (before.owner(position) != after.owner(position)) moved.push_back(position);
  }
  if (moved.empty()) return "none";
  for (const std::uint64_t position : moved) {
    if (after.owner(position) != after.owner(moved.front())) return "to several";
  }
  if (moved.back() - moved.front() + 1 != moved.size()) return "in several pieces";
  return fmt::format("{} to {}, to {}", moved.front(), moved.back(), owner_on(after, moved.front()));
}

std::vector<Figure> run_hundred_positions() {
  const RingPoint a{10, 0}, b{35, 1}, c{62, 2}, d{84, 3}, e{50, 4};
  const HashRing ring = small_ring({a, b, c, d});
  return {
      word_figure("the owner of key 27, with A at 10, B at 35, C at 62, D at 84", owner_on(ring, 27), "B"),
      word_figure("the owner of key 70", owner_on(ring, 70), "D"),
      word_figure("the owner of key 93, behind the last node", owner_on(ring, 93), "A"),
      word_figure("the owner of key 62, where C is", owner_on(ring, 62), "C"),
      word_figure("what moves when E comes at 50", positions_that_move(ring, small_ring({a, b, c, d, e})),
                  "36 to 50, to E"),
      word_figure("what moves when C goes", positions_that_move(ring, small_ring({a, b, d})),
                  "36 to 62, to D")};
}

}  // namespace

constexpr Lesson lesson::hundred_positions{
    .name = "hundred-positions",
    .teaches =
        "on a ring a key goes to the next node clockwise, so a node that comes or goes concerns one arc only",
    .run = run_hundred_positions};

}  // namespace guideway
