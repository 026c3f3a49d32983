// Algorithm: every placement algorithm of the field behind one interface.
// What: an Algorithm is a row of the registry: a name, what it does, what it promises, and how it is built. It
//       turns nodes (name, weight, zone) into a Placement, which says who owns a key. Algorithms that deal a
//       table of rows show the rows as well.
// Why:  tests, benchmarks and screens loop over the registry and read the promises from it; none of them names
//       an algorithm. What an algorithm cannot do it refuses with a sentence.
// How:  place(algorithm, nodes) from nothing; place_after(placement, nodes) once nodes came, went or changed
//       their weight, so that algorithms with a history carry it on; placement->owner(placement->hash("key")).
// Cost: a Placement is immutable and may be read by any number of threads; nothing in it is shared with another.
// Not:  health, drain or hops of rows; the router's own rule has them, in rows.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/placement.h"
#include "guideway/result.h"

namespace guideway {

struct Node {
  std::string name;            // 1..63 bytes of [A-Za-z0-9._-]
  std::uint32_t weight = 100;  // 1..65535
  std::string zone = {};       // what may fail at once; empty: the node is a zone of its own
  friend bool operator==(const Node&, const Node&) = default;
};

// Each algorithm reads what concerns it.
struct PlacementOptions {
  std::uint64_t seed = 0;
  std::uint32_t rows = rows_default;      // of a dealt table: a prime from 251 to 5,000,011
  std::uint32_t points = 100;             // ring: points of a node of weight 100
  std::uint32_t ring_size_min = 1024;     // Envoy-style ring: points of all nodes together
  std::uint32_t ring_size_max = 8388608;  //
  std::uint32_t load_percent = 125;       // bounded loads: the most a node gets, in percent of its fair share
  std::uint32_t probes = 21;              // multi-probe: times a key is hashed
  std::uint32_t capacity = 0;             // anchor: nodes there may ever be at once; 0: twice the first ones
  friend bool operator==(const PlacementOptions&, const PlacementOptions&) = default;
};

// Where rows are dealt by unequal weights, whole rows round: movement is promised to within one row a node there.
struct Promises {
  bool pure = false;                // the same nodes give the same placement, whatever was before
  bool undoes = false;              // a node that comes and goes again leaves everything as it was
  bool monotone_on_add = false;     // keys move only to the node that came
  bool minimal_on_removal = false;  // keys move only from the node that went
  bool removes_any = false;         // any node may go; if not, only the last that came
  bool honours_weights = false;     // if not, unequal weights are refused
  bool replicas = false;            // gives lists of distinct nodes that heed zones
  bool keys_stand_alone = false;    // the owner of a key does not depend on the other keys that are placed
};

struct Algorithm;
class Placement;
using PlacementPtr = std::unique_ptr<const Placement>;

// What an algorithm builds from; checked, nodes in byte order of their names.
struct PlacementRequest {
  const Algorithm& algorithm;
  std::vector<Node> nodes;
  PlacementOptions options;
  const Placement* before = nullptr;  // of the same algorithm and options; null from nothing
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view source;   // paper or program it follows
  Promises promises;
  // How full the fullest of `nodes` equal nodes (of weight 100 or more) may be, its share over the mean: a seed in
  // a thousand million exceeds it, in exact algorithms none.
  double (*peak_bound)(std::size_t nodes, const PlacementOptions& options);
  Result<PlacementPtr> (*build)(PlacementRequest request);
};

enum class ZoneRule : std::uint8_t {
  ignore,
  spread,  // no zone twice before every zone is named
};

class Placement {
 public:
  virtual ~Placement() = default;
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  [[nodiscard]] const Algorithm& algorithm() const { return request_.algorithm; }
  [[nodiscard]] const PlacementOptions& options() const { return request_.options; }
  // In byte order of their names; a MemberIndex is an index into them.
  [[nodiscard]] std::span<const Node> nodes() const { return request_.nodes; }

  // The hash of a key that owner() is to be asked with. XXH3 with the seed, except where the algorithm's own
  // hash is part of it (ketama, slots). Any 64 well-mixed bits will do as well.
  [[nodiscard]] virtual std::uint64_t hash(std::string_view key) const;

  [[nodiscard]] virtual MemberIndex owner(std::uint64_t key_hash) const = 0;

  // The owners of many keys, placed in this order; `owners` is as long. Only where keys do not stand alone this
  // differs from asking for each.
  virtual void assign(std::span<const std::uint64_t> key_hashes, std::span<MemberIndex> owners) const;

  // The dealt table, where there is one: key_hash mod its length is a key's row.
  [[nodiscard]] virtual std::span<const MemberIndex> rows() const { return {}; }

  // Memory that look-ups read, without the nodes' names.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  explicit Placement(PlacementRequest request) : request_(std::move(request)) { request_.before = nullptr; }

 private:
  friend Result<std::vector<MemberIndex>> replicas(const Placement&, std::uint64_t, std::size_t, ZoneRule);
  // `count` is at most the number of nodes. Called only where the algorithm promises replicas.
  [[nodiscard]] virtual std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                               ZoneRule rule) const;

  PlacementRequest request_;
};

// All of them, the router's own last.
[[nodiscard]] std::span<const Algorithm* const> algorithms();

// Refused: a name that is not there, with all that are.
[[nodiscard]] Result<const Algorithm*> find_algorithm(std::string_view name);

// From nothing; `nodes` may come in any order. Refused: no nodes, a bad or repeated name, a weight out of range,
// unequal weights where the algorithm has none, options the algorithm cannot use.
[[nodiscard]] Result<PlacementPtr> place(const Algorithm& algorithm, std::vector<Node> nodes,
                                         const PlacementOptions& options = {});

// The placement after a change to `nodes`. Refused besides: a removal that the algorithm cannot do.
[[nodiscard]] Result<PlacementPtr> place_after(const Placement& before, std::vector<Node> nodes);

// `count` distinct nodes for a key, the owner first; all nodes if there are fewer. Refused where the algorithm
// has no replicas.
[[nodiscard]] Result<std::vector<MemberIndex>> replicas(const Placement& placement, std::uint64_t key_hash,
                                                        std::size_t count, ZoneRule rule = ZoneRule::ignore);

// The nodes that own no row of a dealt table: there are more nodes than rows, or their weight is too small.
[[nodiscard]] std::vector<MemberIndex> nodes_without_rows(const Placement& placement);

}  // namespace guideway
