// Binary search: what a look-up on a ring of the usual size costs.
#include <algorithm>
#include <numeric>

#include "tables/algorithms/ketama.h"
#include "tables/lessons/figures.h"
#include "tables/lessons/lessons.h"
#include "tables/mix.h"

#include <fmt/format.h>

namespace guideway {
namespace {

std::vector<Figure> run_binary_search() {
  std::vector<Node> servers;
  for (int i = 0; i < 50; ++i) servers.push_back({fmt::format("server-{}", i)});
  const HashRing ring = ketama_ring(servers);

  constexpr std::uint64_t look_ups = 10000;
  std::uint64_t probes = 0;
  bool found_alike = true;
  std::vector<std::size_t> points(ring.size());
  std::iota(points.begin(), points.end(), std::size_t{0});
  for (std::uint64_t key = 0; key < look_ups; ++key) {
    const std::uint64_t position = mix(key) >> 32;
    const auto found = std::partition_point(points.begin(), points.end(), [&](std::size_t point) {
      ++probes;
      return ring.at(point) < position;
    });
    found_alike = found_alike && (found == points.end() ? 0 : *found) == ring.successor(position);
  }
  return {number_figure("entries of 50 servers with 160 points each", static_cast<double>(ring.size()),
                        Published{8000, 0}, 0),
          number_figure("probes a look-up", static_cast<double>(probes) / look_ups, Published{13, 0.5}, 1),
          word_figure("and it finds what the ring finds", found_alike ? "yes" : "no", "yes")};
}

}  // namespace

constexpr Lesson lesson::binary_search{
    .name = "binary-search",
    .teaches = "thousands of points cost a look-up no more than a dozen comparisons",
    .run = run_binary_search};

}  // namespace guideway
