// Comparison: what every placement algorithm makes of the same nodes, the same keys and one change.
// What: how evenly keys lie, what a change moves besides what it must, who takes over from a lost node, and what
//       building and asking cost.
// Why:  an algorithm is chosen by these figures; worked out side by side for one's own fleet they need no belief.
// How:  compare({.nodes = numbered_nodes(10), .change = {.name = "b10"}}, algorithms()).
// Cost: a placement or two per algorithm and `keys` look-ups in each: seconds at a thousand nodes.
//       Everything but the times is the same in every run.
// Not:  health, drain or hops of rows (tables/simulation), nor what papers found (lesson.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

struct ComparedChange {
  enum class Kind : std::uint8_t { add, remove, weight };
  Kind kind = Kind::remove;
  std::string name;            // of the node that comes, goes or is weighed
  std::uint32_t weight = 100;  // of one that comes or is weighed
  friend bool operator==(const ComparedChange&, const ComparedChange&) = default;
};

// "add" (no name), "add:NAME", "add:NAME=W", "remove:NAME", "weight:NAME=W".
[[nodiscard]] Result<ComparedChange> parse_compared_change(std::string_view text);
[[nodiscard]] std::string compared_change_text(const ComparedChange& change);

// "100,100,200".
[[nodiscard]] Result<std::vector<std::uint32_t>> parse_weights(std::string_view text);

// b01, b02, …: as many digits as one more would need; weights in turn, 100 where none are given.
[[nodiscard]] std::vector<Node> numbered_nodes(std::size_t count,
                                               std::span<const std::uint32_t> weights = {});

inline constexpr std::uint32_t compared_keys_max = 10'000'000;
inline constexpr std::uint64_t compared_work_max = 10'000'000'000;  // nodes times keys

struct ComparisonRequest {
  std::vector<Node> nodes;
  ComparedChange change;        // the name of one that comes may be left out
  std::uint32_t keys = 100000;  // key-0, key-1, …
  PlacementOptions options = {};
};

// How full the nodes are: what each has, over what its weight is due.
struct FullnessFigures {
  double peak = 0;       // the fullest; peak over mean where weights are equal
  double minimum = 0;    // the emptiest
  double deviation = 0;  // root mean square of what is off 1
  double error = 0;      // share of everything that lies elsewhere than exact shares would have it
};

struct MovementFigures {
  double moved = 0;  // share of all keys
  double needless =
      0;  // share of all keys that moved between two nodes of which neither changed, or the wrong way
  // Who took over the keys of a node that lost some, or gave up those that one won.
  std::size_t partners = 0;
  double busiest = 0;  // the largest share of these keys at one partner
  std::string busiest_name;
};

// Processor time of one thread.
struct CostFigures {
  double build_ms = 0;              // from nothing
  std::optional<double> change_ms;  // after the change
  double lookup_ns = 0;             // of a key whose hash is known
  std::size_t bytes = 0;            // that look-ups read
};

struct ComparedAlgorithm {
  const Algorithm* algorithm = nullptr;
  std::optional<Error> refusal;         // of these nodes; nothing else is there then
  FullnessFigures keys;                 //
  std::optional<FullnessFigures> rows;  // of a dealt table, free of the keys' own scatter
  std::vector<double> fullness;         // [nodes], by keys
  std::vector<std::string> without_rows;
  std::optional<Error> change_refusal;
  std::optional<MovementFigures> movement;
  CostFigures cost;
};

struct Comparison {
  std::vector<Node> before, after;  // byte order of names
  ComparedChange change;            // with its name
  bool wins = false;                // the changed node wins keys (came, or is heavier)
  std::uint32_t keys = 0;
  double due = 0;      // share of the keys that the weights demand to move
  double scatter = 0;  // error that drawing so many keys makes by itself, on average
  std::vector<ComparedAlgorithm> algorithms;
};

// Refused: a change that is none or names a node that is not there, and more work than compared_work_max. What one
// algorithm refuses stands in its own line.
[[nodiscard]] Result<Comparison> compare(const ComparisonRequest& request,
                                         std::span<const Algorithm* const> algorithms);

}  // namespace guideway
