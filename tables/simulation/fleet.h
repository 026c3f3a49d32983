// Fleet: the backends of a simulated pool, from change to change.
// What: who is a member, of which weight, in which state, what the health checks say of it, and whether it answers in
//       truth; a check that flaps says down of a backend that serves on.
// Why:  every rule is shown the same changes; a number is never used again, so that flows cannot mistake a newcomer
//       for one that went.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "guideway/rows.h"

namespace guideway {

using BackendNumber = std::uint16_t;
inline constexpr BackendNumber nobody = 0xffff;

struct SimulatedBackend {
  BackendNumber number = 0;
  std::uint32_t weight = 100;
  BackendState state = BackendState::active;
  Health health = Health::up;
  std::uint32_t drained_at = 0;  // step
  [[nodiscard]] bool takes_new() const { return state == BackendState::active && health == Health::up; }
};

inline constexpr std::size_t simulated_backends_min = 4, simulated_backends_max = 1000;
[[nodiscard]] Result<void> check_fleet_size(std::size_t backends);

class Fleet {
 public:
  // Weights in turn, 100 where none are given.
  explicit Fleet(std::size_t size, std::span<const std::uint32_t> weights = {});

  // In the order of their numbers, which is that of their names.
  [[nodiscard]] std::span<const SimulatedBackend> backends() const { return backends_; }
  [[nodiscard]] std::vector<Member> members() const;
  [[nodiscard]] std::vector<MemberStatus> statuses() const;
  // Whether packets that are sent to it are answered: it is there and runs.
  [[nodiscard]] bool answers(BackendNumber number) const {
    return number < answers_.size() && answers_[number] != 0;
  }

  void add(std::uint32_t weight = 100);
  void weigh(std::size_t index, std::uint32_t weight) { backends_[index].weight = weight; }
  void remove(std::size_t index);
  void drain(std::size_t index, std::uint32_t step);
  void undrain(std::size_t index) { backends_[index].state = BackendState::active; }
  void check_says(std::size_t index, Health health) { backends_[index].health = health; }
  void stop(std::size_t index);   // its flows end; the checks notice at once
  void start(std::size_t index);  //

 private:
  std::vector<SimulatedBackend> backends_;
  std::vector<std::uint8_t> answers_;  // [number]
};

// How a fleet changes; one call a step.
struct Scenario {
  std::string_view name;
  std::string_view tells;  // one line
  void (*step)(Fleet& fleet, std::size_t size, std::uint32_t step, std::mt19937_64& random);
};

[[nodiscard]] std::span<const Scenario> scenarios();
// Refused: a name that is not there, with all that are.
[[nodiscard]] Result<const Scenario*> find_scenario(std::string_view name);

}  // namespace guideway
