#include "bench/dataplane/lookups.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "bench/dataplane/clock.h"
#include "dataplane/burst.h"
#include "dataplane/flow_table.h"

namespace guideway::bench {
namespace {

struct FreeHash {
  void operator()(rte_hash* hash) const { rte_hash_free(hash); }
};
using Hash = std::unique_ptr<rte_hash, FreeHash>;

// A key is the flow hash, 8 bytes: the shortest that names a flow, and compared in one step.
Hash make_rte_hash(std::span<const std::uint64_t> keys) {
  rte_hash_parameters parameters{};
  parameters.name = "flows";
  parameters.entries = static_cast<std::uint32_t>(keys.size() + keys.size() / 8);
  parameters.key_len = sizeof(std::uint64_t);
  parameters.hash_func = rte_hash_crc;
  parameters.socket_id = SOCKET_ID_ANY;
  Hash hash(rte_hash_create(&parameters));
  if (!hash) return hash;
  for (const std::uint64_t& key : keys)
    if (rte_hash_add_key_with_hash_data(hash.get(), &key, static_cast<hash_sig_t>(key), nullptr) < 0)
      return {};
  return hash;
}

struct alignas(64) Line {
  std::uint64_t word;
};
struct FreeLines {
  void operator()(Line* lines) const { std::free(lines); }
};
using Lines = std::unique_ptr<Line[], FreeLines>;

// Of the same pages as the flow table, and all of them there.
Lines make_lines(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t size = (bytes + huge_page - 1) / huge_page * huge_page;
  auto* lines = static_cast<Line*>(std::aligned_alloc(huge_page, size));
  if (lines == nullptr) throw std::bad_alloc();
  madvise(lines, size, MADV_HUGEPAGE);
  std::fill_n(lines, size / sizeof(Line), Line{1});
  return Lines(lines);
}

}  // namespace

LookupCosts compare_lookups(std::uint32_t flows, std::size_t rounds) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> keys(flows);
  std::ranges::generate(keys, random);
  FlowTable table(flows);
  for (const std::uint64_t key : keys) table.insert(key, BackendId(1), FlowClass::established, 0, 900'000);
  const Hash hash = make_rte_hash(keys);
  if (!hash) {
    std::fputs("bench: rte_hash has no memory\n", stderr);
    std::exit(1);
  }
  std::shuffle(keys.begin(), keys.end(), random);

  std::uint64_t found = 0;
  const auto next = [&keys](std::size_t& at) {
    const std::uint64_t* burst = &keys[at];
    at += burst_max;
    if (at + burst_max > keys.size()) at = 0;
    return burst;
  };
  std::size_t at_ours = 0, at_theirs = 0, at_lines = 0;
  const Lines lines = make_lines(table.memory_bytes());
  const auto line_of = [&](std::uint64_t key) { return &lines[key & (table.buckets() - 1)]; };
  const auto ours = [&] {
    const std::uint64_t* burst = next(at_ours);
    for (std::size_t i = 0; i < burst_max; ++i) table.prefetch(burst[i]);
    std::array<BackendId, burst_max> backends;
    table.visit_entries({burst, burst_max}, ~0U, 0, [&](std::size_t n, const FlowTable::Entry& entry) {
      backends[n] = entry.backend();
      ++found;
    });
    asm volatile("" : : "r"(backends.data()) : "memory");  // as the caller's, they are written
  };
  const auto theirs = [&] {
    const std::uint64_t* burst = next(at_theirs);
    std::array<const void*, burst_max> wanted;
    std::array<hash_sig_t, burst_max> signatures;
    std::array<void*, burst_max> data;
    for (std::size_t i = 0; i < burst_max; ++i) {
      wanted[i] = &burst[i];
      signatures[i] = static_cast<hash_sig_t>(burst[i]);
    }
    std::uint64_t hits = 0;
    found += static_cast<unsigned>(rte_hash_lookup_with_hash_bulk_data(
        hash.get(), wanted.data(), signatures.data(), burst_max, &hits, data.data()));
  };
  const auto lines_of = [&] {
    const std::uint64_t* burst = next(at_lines);
    for (std::size_t i = 0; i < burst_max; ++i) rte_prefetch0(line_of(burst[i]));
    for (std::size_t i = 0; i < burst_max; ++i) found += line_of(burst[i])->word;
  };
  const auto costs = measure<3>({ours, theirs, lines_of}, burst_max, rounds);
  if (found == 0) std::fputs("bench: nothing was found\n", stderr);
  return {costs[0], costs[1], costs[2]};
}

}  // namespace guideway::bench
