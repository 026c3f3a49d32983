#include "tables/simulation/fleet.h"

#include <fmt/format.h>

namespace guideway {

Result<void> check_fleet_size(std::size_t backends) {
  if (backends >= simulated_backends_min && backends <= simulated_backends_max) return {};
  return fail(ErrorKind::invalid, fmt::format("{} backends cannot be simulated", backends), {},
              fmt::format("use {} to {}", simulated_backends_min, simulated_backends_max));
}

Fleet::Fleet(std::size_t size, std::span<const std::uint32_t> weights) {
  for (std::size_t i = 0; i < size; ++i) add(weights.empty() ? 100 : weights[i % weights.size()]);
}

std::vector<Member> Fleet::members() const {
  std::vector<Member> out;
  for (const SimulatedBackend& backend : backends_)
    out.push_back({fmt::format("{:05}", backend.number), backend.weight});
  return out;
}

std::vector<MemberStatus> Fleet::statuses() const {
  std::vector<MemberStatus> out;
  for (const SimulatedBackend& backend : backends_) out.push_back({backend.state, backend.health});
  return out;
}

void Fleet::add(std::uint32_t weight) {
  backends_.push_back({.number = static_cast<BackendNumber>(answers_.size()), .weight = weight});
  answers_.push_back(1);
}

void Fleet::remove(std::size_t index) {
  answers_[backends_[index].number] = 0;
  backends_.erase(backends_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Fleet::drain(std::size_t index, std::uint32_t step) {
  backends_[index].state = BackendState::draining;
  backends_[index].drained_at = step;
}

void Fleet::stop(std::size_t index) {
  answers_[backends_[index].number] = 0;
  backends_[index].health = Health::down;
}

void Fleet::start(std::size_t index) {
  answers_[backends_[index].number] = 1;
  backends_[index].health = Health::up;
}

}  // namespace guideway
