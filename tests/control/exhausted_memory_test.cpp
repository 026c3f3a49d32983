// Exhausted memory: whichever allocation of a change fails, the change is whole or not at all, and nothing ends.
// Not:  the JSON of the answer, which is made when the change is in force: the JSON library destroys a value with memory of
//       its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "../state/simulated_disk.h"
#include "control/thread_faults.h"
#include "control_fixture.h"

namespace {

// Of this thread: how many more allocations succeed; negative: all do.
thread_local long allocations_left = -1;
thread_local long allocations_refused = 0;
thread_local bool refuses_once = false;  // one, and then there is memory again

void* allocate(std::size_t size) {
  if (allocations_left == 0) {
    ++allocations_refused;
    if (std::exchange(refuses_once, false)) allocations_left = -1;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

// While it lives, this thread has memory for so many allocations.
class Exhausted {
 public:
  explicit Exhausted(long allocations) {
    allocations_left = allocations;
    allocations_refused = 0;
  }
  ~Exhausted() { allocations_left = -1; }
  Exhausted(const Exhausted&) = delete;
  Exhausted& operator=(const Exhausted&) = delete;
};

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace guideway {
namespace {

Site tiny_site() {
  Site site = small_site();
  site.pools.edit(0).rows = 251;
  return site;
}

std::map<std::string, BackendId> ids_of(const Snapshot& snapshot) {
  std::map<std::string, BackendId> out;
  for (const auto& pool : snapshot.pools)
    for (const SnapshotBackend& backend : pool->backends)
      out[pool->name + backend.address.text()] = backend.id;
  return out;
}

// The disk's own memory is the kernel's, and there.
class SteadyDisk final : public Disk {
 public:
  explicit SteadyDisk(std::shared_ptr<Platters> platters) : disk_(std::move(platters)) {}
  Result<std::vector<std::string>> list() override { return disk_.list(); }
  Result<std::string> read(const std::string& name) override { return disk_.read(name); }
  Result<void> write_file(const std::string& name, std::string_view bytes) override {
    const Plenty plenty;
    return disk_.write(name, bytes);
  }
  Result<void> begin_overwrite(const std::string& name, std::size_t offset, std::string_view bytes) override {
    const Plenty plenty;
    return disk_.begin_overwrite(name, offset, bytes);
  }
  Result<void> finish_overwrite() override {
    const Plenty plenty;
    return disk_.finish_overwrite();
  }
  bool holds(const std::string& name) override { return disk_.holds(name); }
  Result<void> rename_file(const std::string& from, const std::string& to) override {
    const Plenty plenty;
    return disk_.rename(from, to);
  }
  Result<void> remove_file(const std::string& name) override {
    const Plenty plenty;
    return disk_.remove(name);
  }
  Result<void> sync_directory() override {
    const Plenty plenty;
    return disk_.sync_names();
  }
  [[nodiscard]] std::string place(const std::string& name) const override { return disk_.place(name); }

 private:
  struct Plenty {
    long left = std::exchange(allocations_left, -1);
    ~Plenty() { allocations_left = left; }
  };
  SimulatedDisk disk_;
};

struct DirectorWithJournal {
  std::shared_ptr<Platters> platters = std::make_shared<Platters>();
  ControlledDirector director{tiny_site(),
                              {ip("192.0.2.1"), ip("2001:db8::1")},
                              *Journal::open(std::make_unique<SteadyDisk>(platters))};

  Epoch journalled() const {
    const auto copy = std::make_shared<Platters>(*platters);
    return (*Journal::open(std::make_unique<SimulatedDisk>(copy))->load())->epoch;
  }
};

// Runs the change with less memory than it needs, and with ever more, until it has enough; answers how often it was refused.
int refusals_of(const std::string& change) {
  int refused = 0;
  for (long allocations = 0;; allocations += allocations < 400 ? 1 : 3) {
    DirectorWithJournal made;
    ControlledDirector& director = made.director;
    bool gives_up = false;
    director.controller.set_give_up([&gives_up] { gives_up = true; });
    director.controller.add_follower([](const Site&) { allocations_left = -1; });
    EXPECT_TRUE(director.controller.start());
    const auto before = ids_of(*director.publisher.newest());
    auto arguments = parse_command(*split_words(change));
    EXPECT_TRUE(arguments);
    bool answered = false, done = false;
    try {
      const Exhausted exhausted(allocations);
      const auto answer = director.controller.run(*arguments);
      answered = true;
      done = answer.has_value();
      if (!done) {
        EXPECT_EQ(answer.error().kind, ErrorKind::internal);
        EXPECT_FALSE(answer.error().what.empty());
      }
    } catch (const std::bad_alloc&) {  // not even enough for the words; the API closes the connection
    }
    const bool reached = allocations_refused > 0;
    const Epoch epoch = director.publisher.newest()->epoch;
    if (gives_up) {
      EXPECT_EQ(made.journalled(), Epoch{2}) << "it is given up only where a restart carries it out";
      continue;
    }
    // A verdict that follows is built upon what is published.
    EXPECT_EQ(made.journalled(), epoch) << allocations;
    if (done) {
      EXPECT_EQ(epoch, Epoch{2});
    }
    if (epoch == Epoch{1}) {
      ++refused;
      EXPECT_EQ(ids_of(*director.publisher.newest()), before);
    }
    EXPECT_TRUE(director("health set web web-3 down")) << allocations;
    auto after = ids_of(*director.publisher.newest());
    for (const auto& [backend, id] : before) EXPECT_EQ(after.at(backend), id) << backend;
    // And with memory it goes on as if nothing had been.
    if (epoch == Epoch{1}) {
      const auto again = director(change);
      EXPECT_TRUE(again) << allocations;
      EXPECT_EQ(made.journalled(), director.publisher.newest()->epoch);
      after = ids_of(*director.publisher.newest());
      if (after.size() > before.size()) {
        EXPECT_EQ(to_index(after.at("web10.0.1.14")), 3U) << "an id was lost";
      }
    }
    if (!reached) {
      EXPECT_TRUE(answered && done);
      break;
    }
  }
  return refused;
}

TEST(ExhaustedMemory, AChangeIsWholeOrNotAtAll) {
  EXPECT_GT(refusals_of("backend add web web-4 10.0.1.14"), 300);
}

// Its record is on its way to the disk before its snapshot is built.
TEST(ExhaustedMemory, ADrainIsWholeOrNotAtAll) { EXPECT_GT(refusals_of("backend drain web web-2"), 100); }

// What a drain moves is counted when it is in force; before that the journal is tidied, which may fail. `once`: there is
// memory again after one allocation that was refused, so that the answer can say more.
void expect_told_that_it_is_in_force(bool once) {
  int untold = 0;
  for (long allocations = 0; untold < 10; ++allocations) {
    ASSERT_LT(allocations, 1000);
    DirectorWithJournal made;
    ControlledDirector& director = made.director;
    director.controller.add_follower([&](const Site&) {
      if (director.publisher.newest()->epoch == Epoch{1}) return;
      refuses_once = once;
      allocations_left = allocations;
    });
    ASSERT_TRUE(director.controller.start());
    const auto arguments = parse_command(*split_words("backend drain web web-2"));
    allocations_refused = 0;
    const auto answer = director.controller.run(*arguments);
    allocations_left = -1;
    refuses_once = false;
    ASSERT_GT(allocations_refused, 0) << "nothing was refused";
    EXPECT_EQ(made.journalled(), Epoch{2});
    EXPECT_EQ(director.publisher.newest()->epoch, Epoch{2});
    if (answer) continue;
    ++untold;
    EXPECT_EQ(answer.error().kind, ErrorKind::in_doubt);
    EXPECT_EQ(answer.error().what,
              once
                  ? "the change is in force as epoch 2, but what it moves cannot be told: there is no memory "
                    "left for this"
                  : "the change is in force, but what it moves cannot be told: no memory is left");
    const auto again = director("backend drain web web-2");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->at("result"), "unchanged") << "it was done";
  }
}
TEST(ExhaustedMemory, WhoeverIsNotToldWhatADrainMovesIsToldThatItIsInForce) {
  expect_told_that_it_is_in_force(true);
}
TEST(ExhaustedMemory, AlsoWhereNoMemoryIsLeftAtAll) { expect_told_that_it_is_in_force(false); }

TEST(ThreadFaults, AThreadGoesOnAfterWhatItsTurnThrew) {
  ThreadFaults faults("test");
  EXPECT_TRUE(faults.caught([] {}));
  EXPECT_FALSE(faults.caught([] { throw std::bad_alloc(); }));
  EXPECT_FALSE(faults.caught([] { throw 7; }));
  EXPECT_FALSE(faults.caught([] {
    const Exhausted exhausted(0);
    throw std::runtime_error("no memory for this, nor to log it");
  }));
  EXPECT_TRUE(faults.caught([] {}));
}

}  // namespace
}  // namespace guideway
