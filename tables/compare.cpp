#include "guideway/compare.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace guideway {
namespace {

using Owners = std::vector<MemberIndex>;

class ThreadClock {
 public:
  [[nodiscard]] double ms() const { return (now() - begin_) * 1e3; }

 private:
  static double now() {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
  }
  double begin_ = now();
};

std::vector<Node>::iterator node_named(std::vector<Node>& nodes, std::string_view name) {
  return std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
}

// A name that stands behind the numbered ones, so that algorithms that only grow at the end can take it.
std::string name_of_newcomer(std::vector<Node>& nodes) {
  const std::size_t number = nodes.size() + 1;
  std::string name = fmt::format("b{:0{}}", number, std::to_string(number).size());
  while (node_named(nodes, name) != nodes.end()) name += "-new";
  return name;
}

std::vector<double> shares_due(std::span<const Node> nodes) {
  const double sum = std::accumulate(nodes.begin(), nodes.end(), 0.0,
                                     [](double total, const Node& node) { return total + node.weight; });
  std::vector<double> out;
  for (const Node& node : nodes) out.push_back(node.weight / sum);
  return out;
}

// Fills in the newcomer's name, the nodes after the change and what it demands.
Result<void> apply_change(Comparison& out) {
  ComparedChange& change = out.change;
  out.after = out.before;
  if (change.kind == ComparedChange::Kind::add) {
    if (change.name.empty()) change.name = name_of_newcomer(out.after);
    if (node_named(out.after, change.name) != out.after.end()) {
      return fail(ErrorKind::invalid, fmt::format("there is a backend \"{}\" already", change.name),
                  compared_change_text(change), "choose another name, or leave it out");
    }
    out.after.push_back({.name = change.name, .weight = change.weight});
    std::sort(out.after.begin(), out.after.end(),
              [](const Node& a, const Node& b) { return a.name < b.name; });
    out.wins = true;
    return {};
  }
  const auto node = node_named(out.after, change.name);
  if (node == out.after.end()) {
    return fail(ErrorKind::not_found, fmt::format("there is no backend \"{}\"", change.name),
                compared_change_text(change),
                out.before.size() == 1
                    ? fmt::format("there is {} alone", out.before.front().name)
                    : fmt::format("they are {} to {}", out.before.front().name, out.before.back().name));
  }
  if (change.kind == ComparedChange::Kind::remove) {
    if (out.after.size() == 1) {
      return fail(ErrorKind::invalid, "the last backend cannot go", compared_change_text(change),
                  "compare with two backends or more");
    }
    out.after.erase(node);
    return {};
  }
  if (node->weight == change.weight) {
    return fail(ErrorKind::invalid, fmt::format("backend {} has weight {} already", node->name, node->weight),
                compared_change_text(change), "choose another weight");
  }
  out.wins = change.weight > node->weight;
  node->weight = change.weight;
  return {};
}

double share_of(std::span<const Node> nodes, std::string_view name) {
  const std::vector<double> due = shares_due(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == name) return due[i];
  }
  return 0;
}

// Half of the mean absolute deviations of `keys` draws by these shares.
double scatter_of(std::span<const double> due, std::uint32_t keys) {
  double sum = 0;
  for (const double share : due) sum += std::sqrt(share * (1 - share) / keys);
  return sum * std::sqrt(2 / std::numbers::pi) / 2;
}

std::vector<double> fullness_of(std::span<const MemberIndex> owners, std::span<const double> due) {
  std::vector<double> out(due.size());
  for (const MemberIndex owner : owners) out[owner] += 1;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= due[i] * static_cast<double>(owners.size());
  return out;
}

FullnessFigures figures_of(std::span<const double> fullness, std::span<const double> due) {
  FullnessFigures out{.peak = *std::max_element(fullness.begin(), fullness.end()),
                      .minimum = *std::min_element(fullness.begin(), fullness.end())};
  for (std::size_t i = 0; i < fullness.size(); ++i) {
    out.deviation += (fullness[i] - 1) * (fullness[i] - 1) / static_cast<double>(fullness.size());
    out.error += std::abs(fullness[i] - 1) * due[i] / 2;
  }
  out.deviation = std::sqrt(out.deviation);
  return out;
}

struct Assigned {
  Owners owners;
  double lookup_ns = 0;
};

Assigned assign_keys(const Placement& placement, std::uint32_t keys) {
  std::vector<std::uint64_t> hashes(keys);
  for (std::uint32_t i = 0; i < keys; ++i) hashes[i] = placement.hash(fmt::format("key-{}", i));
  Assigned out{.owners = Owners(keys, no_member)};
  const ThreadClock clock;
  placement.assign(hashes, out.owners);
  out.lookup_ns = clock.ms() * 1e6 / keys;
  return out;
}

class Moves {
 public:
  Moves(const Comparison& comparison, const Owners& before, const Owners& after)
      : comparison_(comparison), taken_(comparison.before.size() + comparison.after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      count(comparison.before[before[i]].name, comparison.after[after[i]].name, before[i], after[i]);
    }
  }

  [[nodiscard]] MovementFigures figures() const {
    const auto& nodes = comparison_.wins ? comparison_.before : comparison_.after;
    const auto busiest = std::max_element(taken_.begin(), taken_.end());
    MovementFigures out{.moved = moved_ / comparison_.keys, .needless = needless_ / comparison_.keys};
    out.partners = static_cast<std::size_t>(
        std::count_if(taken_.begin(), taken_.end(), [](double keys) { return keys > 0; }));
    if (out.partners == 0) return out;
    out.busiest = *busiest / std::accumulate(taken_.begin(), taken_.end(), 0.0);
    out.busiest_name = nodes[static_cast<std::size_t>(busiest - taken_.begin())].name;
    return out;
  }

 private:
  void count(const std::string& from, const std::string& to, MemberIndex before, MemberIndex after) {
    if (from == to) return;
    moved_ += 1;
    if ((comparison_.wins ? to : from) == comparison_.change.name) {
      taken_[comparison_.wins ? before : after] += 1;
    } else {
      needless_ += 1;
    }
  }

  const Comparison& comparison_;
  std::vector<double>
      taken_;  // by partner, an index into the nodes before where the changed one wins, else after
  double moved_ = 0, needless_ = 0;
};

ComparedAlgorithm compare_one(const Algorithm& algorithm, const Comparison& comparison,
                              const PlacementOptions& options) {
  ComparedAlgorithm out{.algorithm = &algorithm};
  const ThreadClock build_clock;
  const auto before = place(algorithm, comparison.before, options);
  out.cost.build_ms = build_clock.ms();
  if (!before) {
    out.refusal = before.error();
    return out;
  }
  const std::vector<double> due = shares_due(comparison.before);
  const Assigned keys_before = assign_keys(**before, comparison.keys);
  out.cost.lookup_ns = keys_before.lookup_ns;
  out.cost.bytes = (*before)->bytes();
  out.fullness = fullness_of(keys_before.owners, due);
  out.keys = figures_of(out.fullness, due);
  if (const auto rows = (*before)->rows(); !rows.empty()) {
    out.rows = figures_of(fullness_of(rows, due), due);
    for (const MemberIndex member : nodes_without_rows(**before)) {
      out.without_rows.push_back((*before)->nodes()[member].name);
    }
  }
  const ThreadClock change_clock;
  const auto after = place_after(**before, comparison.after);
  if (!after) {
    out.change_refusal = after.error();
    return out;
  }
  out.cost.change_ms = change_clock.ms();
  out.movement =
      Moves(comparison, keys_before.owners, assign_keys(**after, comparison.keys).owners).figures();
  return out;
}

Result<void> check_work(const ComparisonRequest& request) {
  if (request.nodes.empty()) {
    return fail(ErrorKind::invalid, "there are no backends to compare with", {}, "name one at least");
  }
  if (request.keys == 0 || request.keys > compared_keys_max) {
    return fail(ErrorKind::invalid, fmt::format("{} keys cannot be compared", request.keys), {},
                fmt::format("use 1 to {}", compared_keys_max));
  }
  if (std::uint64_t{request.keys} * request.nodes.size() > compared_work_max) {
    return fail(ErrorKind::invalid,
                fmt::format("{} backends times {} keys take too long", request.nodes.size(), request.keys),
                {}, "use fewer of either; their product may be 10,000,000,000");
  }
  return {};
}

}  // namespace

Result<Comparison> compare(const ComparisonRequest& request, std::span<const Algorithm* const> algorithms) {
  if (auto good = check_work(request); !good) return tl::unexpected(good.error());
  Comparison out{.before = request.nodes, .change = request.change, .keys = request.keys};
  std::sort(out.before.begin(), out.before.end(),
            [](const Node& a, const Node& b) { return a.name < b.name; });
  if (auto good = apply_change(out); !good) return tl::unexpected(good.error());
  out.due = std::abs(share_of(out.before, out.change.name) - share_of(out.after, out.change.name));
  out.scatter = scatter_of(shares_due(out.before), out.keys);
  for (const Algorithm* algorithm : algorithms) {
    out.algorithms.push_back(compare_one(*algorithm, out, request.options));
  }
  return out;
}

}  // namespace guideway
