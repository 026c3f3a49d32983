#include "dataplane/flow_table.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace guideway {
namespace {

using Inserted = FlowTable::Inserted;
constexpr std::uint32_t minute = 60'000;

BackendId id(std::uint32_t value) { return BackendId(value); }

// Makes the flow established, as its second packet does.
void establish(FlowTable& table, std::uint64_t hash, std::uint32_t now_ms) {
  FlowTable::touch(table.find_entry(hash, now_ms), {FlowClass::established, now_ms, 15 * minute});
}

TEST(FlowTable, WhatHasEndedIsCountedApart) {
  const struct {
    const char* description;
    FlowClass flow_class;
    std::uint32_t quiet_ms;
    std::size_t open, ending;
  } cases[] = {
      {"established and long quiet", FlowClass::established, 50'000, 1, 0},
      {"a FIN a moment ago", FlowClass::closing, 500, 1, 0},
      {"a FIN, and nothing since", FlowClass::closing, 5000, 0, 1},
      {"a RST, and nothing since", FlowClass::reset, 5000, 0, 1},
      {"a FIN, and aged out", FlowClass::closing, 61'000, 0, 0},
  };
  for (const auto& one : cases) {
    FlowTable table(64);
    constexpr std::uint32_t begin = 1'000'000;
    ASSERT_EQ(table.insert(7ULL << 20, id(1), FlowClass::fresh, begin, minute), FlowTable::Inserted::created);
    FlowTable::touch(table.find_entry(7ULL << 20, begin), {one.flow_class, begin, minute});
    const auto counted = table.count(id(1), begin + one.quiet_ms, minute);
    EXPECT_EQ(counted.open, one.open) << one.description;
    EXPECT_EQ(counted.ending, one.ending) << one.description;
    EXPECT_EQ(table.count(id(2), begin, minute).all(), 0U) << one.description;
  }
}

TEST(FlowTable, KeepsWhatWasInserted) {
  FlowTable table(64);
  EXPECT_FALSE(table.find_entry(1, 0));
  EXPECT_EQ(table.insert(1, id(0), FlowClass::fresh, 0, minute), Inserted::created);
  ASSERT_TRUE(table.find_entry(1, 0));
  EXPECT_EQ(table.find_entry(1, 0).backend(), id(0));
  EXPECT_EQ(table.find_entry(1, 0).flow_class(), FlowClass::fresh);
  EXPECT_EQ(table.insert(1, id(0xffffe), FlowClass::udp_fresh, 0, minute), Inserted::replaced);
  EXPECT_EQ(table.find(1, 0), id(0xffffe));
  table.erase(table.find_entry(1, 0));
  EXPECT_EQ(table.find(1, 0), no_backend);
}

TEST(FlowTable, HashZeroAndBackendZeroIsAnEntry) {
  FlowTable table(64);
  table.insert(0, id(0), FlowClass::fresh, 0, minute);
  EXPECT_EQ(table.find(0, 0), id(0));
  EXPECT_EQ(table.count(id(0), 0, minute).all(), 1U);
}

TEST(FlowTable, AnEntryEndsWithItsTimeout) {
  for (const std::uint32_t start : {0U, 1000U, 0xffffff00U}) {  // the last one wraps
    FlowTable table(64);
    table.insert(7, id(1), FlowClass::fresh, start, 10'000);
    EXPECT_TRUE(table.find_entry(7, start + 9'999)) << start;
    EXPECT_FALSE(table.find_entry(7, start + 10'050)) << start;
    EXPECT_EQ(table.count(id(1), start + 10'050, minute).all(), 0U);
  }
}

TEST(FlowTable, APacketPutsTheEndOff) {
  FlowTable table(64);
  table.insert(7, id(1), FlowClass::fresh, 0, 10'000);
  for (std::uint32_t now = 0; now < 600'000; now += 500)
    FlowTable::touch(table.find_entry(7, now), {FlowClass::established, now, 20'000});
  EXPECT_TRUE(table.find_entry(7, 619'500));
  EXPECT_FALSE(table.find_entry(7, 621'000));
}

// However the packets lie in time, an entry lasts its whole timeout from the last one, and hardly longer.
TEST(FlowTable, AnEntryNeverEndsEarly) {
  for (const std::uint32_t timeout : {100U, 250U, 500U, 1000U, 2000U, 10'000U, 900'000U}) {
    const std::uint32_t longest = timeout + std::min(timeout / 8, 1024U) + 32;
    for (const std::uint32_t start : {1000U, 0xffffff00U}) {  // the last one wraps
      for (const std::uint32_t apart : {1U, timeout / 9, timeout / 2, timeout * 9 / 10, timeout}) {
        SCOPED_TRACE(::testing::Message()
                     << timeout << " ms, a packet every " << apart << " ms, from " << start);
        FlowTable table(64);
        std::uint32_t now = start;
        table.insert(7, id(1), FlowClass::udp_fresh, now, timeout);
        for (int packet = 0; packet < 40; ++packet) {
          ASSERT_TRUE(table.find_entry(7, now + timeout)) << "ended early after packet " << packet;
          ASSERT_FALSE(table.find_entry(7, now + longest)) << "ended late after packet " << packet;
          now += apart;
          ASSERT_TRUE(table.find_entry(7, now));
          FlowTable::touch(table.find_entry(7, now), {FlowClass::udp, now, timeout});
        }
      }
    }
  }
}

TEST(FlowTable, AShorterTimeoutOfTheSameClassCountsAtTheNextPacket) {
  FlowTable table(64);
  table.insert(7, id(1), FlowClass::udp, 0, 60'000);
  FlowTable::touch(table.find_entry(7, 100), {FlowClass::udp, 100, 1000});
  EXPECT_TRUE(table.find_entry(7, 1100));
  EXPECT_FALSE(table.find_entry(7, 1300));
}

TEST(FlowTable, AShorterTimeoutCountsAtOnce) {
  FlowTable table(64);
  table.insert(7, id(1), FlowClass::fresh, 0, 10'000);
  establish(table, 7, 100);
  FlowTable::touch(table.find_entry(7, 200), {FlowClass::closing, 200, minute});
  EXPECT_FALSE(table.find_entry(7, 200 + minute + 50));
}

// Hashes of one pair of buckets (the low bits are the bucket).
std::uint64_t in_pair(std::uint64_t n) { return n << 20; }

TEST(FlowTable, AFullPairEvictsOnlyFreshOnes) {
  FlowTable table(64);
  for (std::uint64_t n = 0; n < 10; ++n) {
    EXPECT_EQ(table.insert(in_pair(n), id(1), FlowClass::fresh, static_cast<std::uint32_t>(n * 100), minute),
              Inserted::created);
    if (n != 4 && n != 6) establish(table, in_pair(n), 1000);
  }
  // 4 would end before 6.
  EXPECT_EQ(table.insert(in_pair(10), id(2), FlowClass::fresh, 2000, minute), Inserted::evicted);
  EXPECT_FALSE(table.find_entry(in_pair(4), 2000));
  EXPECT_TRUE(table.find_entry(in_pair(6), 2000));
  EXPECT_EQ(table.find(in_pair(10), 2000), id(2));
  establish(table, in_pair(10), 2000);
  establish(table, in_pair(6), 2000);
  EXPECT_EQ(table.insert(in_pair(11), id(2), FlowClass::fresh, 2000, minute), Inserted::full);
  for (const std::uint64_t n : {0, 1, 2, 3, 5, 6, 7, 8, 9, 10})
    EXPECT_TRUE(table.find_entry(in_pair(n), 2000)) << n;
}

TEST(FlowTable, AnExpiredEntryMakesRoom) {
  FlowTable table(64);
  for (std::uint64_t n = 0; n < 10; ++n) {
    table.insert(in_pair(n), id(1), FlowClass::fresh, 0, minute);
    FlowTable::touch(table.find_entry(in_pair(n), 0),
                     {FlowClass::established, 0, n == 9 ? minute : 15 * minute});
  }
  EXPECT_EQ(table.insert(in_pair(10), id(2), FlowClass::fresh, 2 * minute, minute), Inserted::created);
  EXPECT_EQ(table.find(in_pair(10), 2 * minute), id(2));
}

// A spilled entry is not mistaken for one that belongs to the bucket it lies in.
TEST(FlowTable, SpilledEntriesKeepTheirHome) {
  FlowTable table(64);
  for (std::uint64_t n = 0; n < 6; ++n) table.insert(in_pair(n), id(1), FlowClass::fresh, 0, minute);
  const std::uint64_t other_home = in_pair(5) | 1;
  EXPECT_TRUE(table.find_entry(in_pair(5), 0));
  EXPECT_FALSE(table.find_entry(other_home, 0));
  table.insert(other_home, id(2), FlowClass::fresh, 0, minute);
  EXPECT_EQ(table.find(in_pair(5), 0), id(1));
  EXPECT_EQ(table.find(other_home, 0), id(2));
}

// Words that differ from a hash in one bit of the tag, in the id alone, or in nothing, and what else lies in a bucket.
TEST(FlowTable, TagsAreMatchedAlikeByVectorsAndWithout) {
  std::mt19937_64 random(11);
  std::array<int, 32> seen{};
  for (int round = 0; round < 100'000; ++round) {
    FlowTable::Bucket bucket{};
    const std::uint64_t hash = round % 16 == 0 ? random() & 0xfffff : random();
    for (auto& word : bucket.word) {
      const std::uint64_t id_bits = random() & 0xfffff;
      switch (random() % 4) {
        case 0:
          word = hash ^ std::uint64_t{1} << (tag_shift + random() % (64 - tag_shift)) ^ id_bits;
          break;
        case 1:
          word = random();
          break;
        case 2:
          word = 0;
          break;
        default:
          word = (hash & ~std::uint64_t{0xfffff}) | id_bits;
      }
    }
    for (auto& mark : bucket.mark) mark = static_cast<std::uint32_t>(hash >> (32 * (random() % 2)));
    unsigned expected = 0;
    for (std::size_t slot = 0; slot < bucket_slots; ++slot)
      expected |= (bucket.word[slot] >> 20 == hash >> 20 ? 1U : 0U) << slot;
    ASSERT_EQ(match_tags_plain(bucket.word, hash), expected);
    ASSERT_EQ(match_tags(bucket.word, hash), expected);
    ++seen[expected];
  }
  for (const int times : seen) EXPECT_GT(times, 0);
}

// A table with many flows that spilled, some of them expired; hashes that are known, unknown, and with a tag of 0.
TEST(FlowTable, ABurstFindsWhatEachHashWouldAlone) {
  FlowTable table(256);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> known;
  for (int n = 0; n < 256; ++n) {
    known.push_back(random() % 8 == 0 ? random() % 64 : random());
    table.insert(known.back(), id(static_cast<std::uint32_t>(n)), FlowClass::fresh, 0,
                 n % 4 == 0 ? minute : 3 * minute);
  }
  std::size_t spilled = 0;
  for (int round = 0; round < 200; ++round) {
    std::array<std::uint64_t, 32> hashes;
    for (std::uint64_t& hash : hashes) hash = random() % 4 == 0 ? random() : known[random() % known.size()];
    const auto wanted = static_cast<std::uint32_t>(random());
    const std::uint32_t now = round % 2 == 0 ? 0 : 2 * minute;
    std::array<FlowTable::Entry, 32> found;
    table.visit_entries(hashes, wanted, now,
                        [&](std::size_t n, FlowTable::Entry entry) { found[n] = entry; });
    for (std::size_t n = 0; n < hashes.size(); ++n) {
      const FlowTable::Entry alone = table.find_entry(hashes[n], now);
      if ((wanted >> n & 1) == 0) {
        EXPECT_FALSE(found[n]);
        continue;
      }
      EXPECT_EQ(found[n].bucket, alone.bucket);
      if (!alone) continue;
      EXPECT_EQ(found[n].slot, alone.slot);
      spilled += (hashes[n] & (table.buckets() - 1)) != table.bucket_of(alone) ? 1U : 0U;
    }
  }
  EXPECT_GT(spilled, 50U);
}

TEST(FlowTable, SweepRemovesWhatExpired) {
  FlowTable table(1024);
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i)
    table.insert(random(), id(1), FlowClass::fresh, 0, i % 2 == 0 ? minute : 3 * minute);
  for (int i = 0; i < 8; ++i) table.sweep(2 * minute);
  EXPECT_EQ(table.count(id(1), 0, minute).all(),
            table.count(id(1), 2 * minute, minute).all());  // at time 0 nothing is expired
  EXPECT_GT(table.count(id(1), 0, minute).all(), 200U);
}

TEST(FlowTable, HoldsItsNominalFlows) {
  FlowTable table(1 << 16);
  EXPECT_EQ(table.memory_bytes(), std::size_t{16} << 16);
  std::mt19937_64 random(11);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    const std::uint64_t hash = random();
    if (table.insert(hash, id(1), FlowClass::fresh, 0, minute) == Inserted::full) {
      ++lost;
    } else {
      establish(table, hash, 0);
    }
  }
  // Full to the nominal size: what finds no place is served by its row.
  EXPECT_LT(static_cast<double>(lost), 0.06 * static_cast<double>(table.capacity()));
}

TEST(FlowTable, AFloodOfSynsEvictsNoEstablishedFlow) {
  FlowTable table(1 << 12);
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> flows;
  for (int i = 0; i < 100; ++i) {
    flows.push_back(random());
    table.insert(flows.back(), id(7), FlowClass::fresh, 0, 10'000);
    establish(table, flows.back(), 0);
  }
  for (std::size_t i = 0; i < 10 * table.capacity(); ++i)
    table.insert(random(), id(8), FlowClass::fresh, static_cast<std::uint32_t>(i / 100), 10'000);
  for (const std::uint64_t flow : flows) EXPECT_EQ(table.find(flow, 400), id(7));
  EXPECT_EQ(table.count(id(7), 400, minute).all(), 100U);
}

// Against a plain map: whatever the order of insertions, erasures and expiries, an entry that is found names
// the backend that was put in last, and what was erased or expired is not found.
TEST(FlowTable, AgreesWithAMap) {
  FlowTable table(256);
  std::unordered_map<std::uint64_t, std::pair<BackendId, std::uint32_t>> model;  // backend, deadline
  std::mt19937_64 random(9);
  std::uint32_t now = 0xfffff000;  // wraps on the way
  std::size_t found = 0;
  for (int step = 0; step < 200'000; ++step) {
    now += static_cast<std::uint32_t>(random() % 4);
    const std::uint64_t hash = (random() % 16) << 40 | random() % 64;
    const BackendId backend = id(static_cast<std::uint32_t>(random() % 1000));
    switch (random() % 8) {
      case 0:
        if (const auto entry = table.find_entry(hash, now)) table.erase(entry);
        model.erase(hash);
        break;
      case 1:
        table.sweep(now);
        break;
      case 2:
      case 3: {
        const auto timeout = static_cast<std::uint32_t>(random() % 2000);
        if (table.insert(hash, backend, FlowClass::fresh, now, timeout) != Inserted::full)
          model[hash] = {backend, now + timeout};
        break;
      }
      default: {
        const BackendId answer = table.find(hash, now);
        const auto known = model.find(hash);
        if (answer == no_backend) break;  // evicted, or never there
        ++found;
        ASSERT_NE(known, model.end());
        ASSERT_EQ(answer, known->second.first);
        ASSERT_LT(static_cast<std::int32_t>(now - known->second.second), 64);  // a few ticks late at most
        ASSERT_TRUE(table.find_entry(hash, now));
      }
    }
  }
  EXPECT_GT(found, 1000U);
  std::size_t entries = 0;
  const std::uint32_t before_all = now - 0x10000;  // when none had expired
  table.for_each(before_all, [&](const FlowTable::Sight&) { ++entries; });
  EXPECT_EQ(table.entries(), entries);
  EXPECT_GT(entries, 0U);
  now += 10'000;
  for (int i = 0; i < 16; ++i) table.sweep(now);
  EXPECT_EQ(table.entries(), 0U);
}

// What `drain --wait` does: another thread counts while the worker inserts and erases.
TEST(FlowTable, AnotherThreadMayCount) {
  FlowTable table(1 << 12);
  std::atomic<bool> stop{false};
  std::size_t most = 0;
  std::thread reader([&] {
    while (!stop) most = std::max(most, table.count(id(3), 0, minute).all());
  });
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> held;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t hash = random();
    table.insert(hash, id(3), FlowClass::fresh, 0, minute);
    held.push_back(hash);
    if (held.size() < 100) continue;
    if (const auto entry = table.find_entry(held.front(), 0)) table.erase(entry);
    held.erase(held.begin());
  }
  stop = true;
  reader.join();
  EXPECT_LE(table.count(id(3), 0, minute).all(), 100U);
  EXPECT_GT(most, 0U);
}

}  // namespace
}  // namespace guideway
