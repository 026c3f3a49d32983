// Random rings: how many keys one node moves on the average, beside modulo.
// What: rings of 2 to 7 nodes on a thousand positions, fifty random keys, five thousand trials.
#include <random>
#include <set>

#include "tables/algorithms/hash_ring.h"
#include "tables/lessons/figures.h"
#include "tables/lessons/lessons.h"

namespace guideway {
namespace {

constexpr int ring_trials = 5000, keys_a_trial = 50;
constexpr std::uint32_t random_ring_positions = 1000;

// The standard distributions differ from library to library; a remainder of 64 bits does not, and is even enough.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

std::vector<RingPoint> random_points(std::mt19937_64& random, std::size_t count) {
  std::set<std::uint64_t> taken;
  std::vector<RingPoint> points;
  while (points.size() < count) {
    const std::uint64_t at = below(random, random_ring_positions);
    if (taken.insert(at).second)
      points.push_back({.at = at, .member = static_cast<MemberIndex>(points.size())});
  }
  return points;
}

struct Moved {
  int by_ring = 0, by_modulo = 0;
};

// The ring's last point comes or goes.
void count_moves(std::mt19937_64& random, Moved& added, Moved& removed) {
  const std::size_t nodes = 2 + below(random, 6);
  const std::vector<RingPoint> points = random_points(random, nodes + 1);
  const HashRing larger(points), ring({points.begin(), points.end() - 1}),
      smaller({points.begin(), points.end() - 2});
  for (int key = 0; key < keys_a_trial; ++key) {
    const std::uint64_t hash = random(), position = hash % random_ring_positions;
    added.by_ring += ring.owner(position) != larger.owner(position);
    added.by_modulo += hash % nodes != hash % (nodes + 1);
    removed.by_ring += ring.owner(position) != smaller.owner(position);
    removed.by_modulo += hash % nodes != hash % (nodes - 1);
  }
}

std::vector<Figure> run_random_rings() {
  std::mt19937_64 random(2);
  Moved added, removed;
  for (int trial = 0; trial < ring_trials; ++trial) count_moves(random, added, removed);
  const auto figure = [](const char* name, int moved, double published) {
    return number_figure(name, 100.0 * moved / (ring_trials * keys_a_trial), Published{published, 0.5}, 1,
                         " %");
  };
  return {figure("keys that an added node moves", added.by_ring, 19.9),
          figure("and by modulo", added.by_modulo, 79.5),
          figure("keys that a removed node moves", removed.by_ring, 26.5),
          figure("and by modulo, one fewer", removed.by_modulo, 73.4)};
}

}  // namespace

constexpr Lesson lesson::random_rings{.name = "random-rings",
                                      .teaches =
                                          "a ring moves one node's share of the keys when a node comes or "
                                          "goes; modulo moves nearly all the others",
                                      .run = run_random_rings};

}  // namespace guideway
