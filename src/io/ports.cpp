#include "io/ports.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_ring.h>
#include <spdlog/spdlog.h>

#include <map>

#include "io/queue_share.h"

namespace guideway {
namespace {

constexpr unsigned handoff_slots = 1024;

// Distinguishes a port's own queues from its twin's.
enum class Side : std::uint8_t { port, twin };

// Empty by now: Workers::stop() has sent or counted what was in it.
struct RingDeleter {
  void operator()(rte_ring* ring) const { rte_ring_free(ring); }
};

}  // namespace

// By port, side and queue: where workers leave frames for a queue that another one owns.
struct Ports::Rings {
  std::map<std::tuple<std::size_t, Side, std::size_t>, std::unique_ptr<rte_ring, RingDeleter>> ring;

  [[nodiscard]] rte_ring* find(std::size_t port, Side side, std::size_t queue) const {
    const auto found = ring.find({port, side, queue});
    return found == ring.end() ? nullptr : found->second.get();
  }
};

Ports::Ports(const DirectorConfig& config) : config_(config), rings_(std::make_unique<Rings>()) {}

Ports::~Ports() {
  rings_.reset();
  twins_.clear();
  ports_.clear();
}

Result<std::unique_ptr<Ports>> Ports::open(const DirectorConfig& config) {
  if (config.ports.empty() || config.ports.size() > ports_max)
    return fail(ErrorKind::invalid, fmt::format("{} ports are configured", config.ports.size()), {},
                fmt::format("configure 1 to {} with [[port]]", ports_max));
  std::unique_ptr<Ports> out(new Ports(config));
  std::uint32_t tx_rings_all = 0;
  for (const auto& port : config.ports) {
    const std::size_t queues = port.queues != 0 ? port.queues : config.workers.size();
    tx_rings_all += port.tx_descriptors * static_cast<std::uint32_t>(queues);
  }
  out->ports_.reserve(config.ports.size());
  for (std::size_t index = 0; index < config.ports.size(); ++index) {
    const PortRequest request{index, config.ports[index], config.workers, tx_rings_all};
    auto port = Port::open(request, out->table_->ports[index]);
    if (!port) return tl::unexpected(port.error());
    out->ports_.push_back(std::move(*port));
    out->table_->size = index + 1;
    out->twins_.emplace_back();
    if (!wants_twin(config.ports[index], out->ports_.back().device())) continue;
    auto twin = Twin::open(index, out->ports_.back(), config.workers.size());
    if (!twin) return tl::unexpected(twin.error());
    out->twins_.back() = std::make_unique<Twin>(std::move(*twin));
  }
  if (auto made = out->make_handoffs(); !made) return tl::unexpected(made.error());
  return out;
}

// A queue gets a ring when some worker that does not own it sends on it.
Result<void> Ports::make_handoffs() {
  const std::size_t workers = config_.workers.size();
  const auto make = [&](std::size_t port, Side side, std::size_t queues) -> Result<void> {
    const QueueShare share(queues, workers, port);
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const auto queue = share.sends_on(worker);
      if (share.owner(queue) == worker || rings_->find(port, side, queue) != nullptr) continue;
      const auto name = fmt::format("handoff{}{}_{}", side == Side::port ? "" : "t", port, queue);
      std::unique_ptr<rte_ring, RingDeleter> ring(
          rte_ring_create(name.c_str(), handoff_slots, ports_[port].socket(), RING_F_SC_DEQ));
      if (!ring)
        return fail(ErrorKind::refused,
                    fmt::format("no memory for ring {}: {}", name, rte_strerror(rte_errno)));
      rings_->ring.emplace(std::tuple(port, side, queue), std::move(ring));
    }
    if (queues < workers)
      spdlog::info(
          fmt::format("port {}{}: {} queue(s) for {} workers; those without one send through the others",
                      config_.ports[port].name, side == Side::port ? "" : " (twin)", queues, workers));
    return {};
  };
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    if (auto made = make(port, Side::port, ports_[port].queues().size()); !made) return made;
    if (!twins_[port]) continue;
    if (auto made = make(port, Side::twin, twins_[port]->queues().size()); !made) return made;
  }
  return {};
}

std::vector<PortLink> Ports::links(std::size_t worker) const {
  const std::size_t workers = config_.workers.size();
  const auto received = [&](std::size_t port, const std::vector<QueuePair>& queues) {
    std::vector<QueuePair> out;
    for (const auto queue : QueueShare(queues.size(), workers, port).owned(worker))
      out.push_back(queues[queue]);
    return out;
  };
  const auto transmitter = [&](std::size_t port, Side side, const std::vector<QueuePair>& queues) {
    const QueueShare share(queues.size(), workers, port);
    const auto queue = share.sends_on(worker);
    return Transmitter(queues[queue], share.owner(queue) == worker, rings_->find(port, side, queue));
  };
  std::vector<PortLink> out;
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    const auto& queues = ports_[port].queues();
    PortLink link{static_cast<std::uint8_t>(port),
                  ports_[port].config().vlan,
                  received(port, queues),
                  transmitter(port, Side::port, queues),
                  {},
                  nullptr};
    if (twins_[port]) {
      const auto& twin_queues = twins_[port]->queues();
      link.twin_rx = received(port, twin_queues);
      link.twin_tx = std::make_unique<Transmitter>(transmitter(port, Side::twin, twin_queues));
    }
    out.push_back(std::move(link));
  }
  return out;
}

void Ports::add_services(const Site& site) {
  for (auto& port : ports_) {
    const int error = port.steering() != nullptr ? port.steering()->add_services(site) : 0;
    if (error != 0)
      spdlog::error(fmt::format("port {}: new services stay with the kernel, its list takes no more: {}",
                                port.config().name, rte_strerror(error)));
  }
}

void Ports::drop_other_services(const Site& site) {
  for (auto& port : ports_)
    if (port.steering() != nullptr) port.steering()->drop_others(site);
}

void Ports::set_link(std::size_t index, bool up) {
  if (table_->ports[index].link_up.exchange(up, std::memory_order_release) == up) return;
  if (up)
    spdlog::info(fmt::format("port {}: link is up", ports_[index].config().name));
  else
    spdlog::warn(fmt::format("port {}: link is down", ports_[index].config().name));
}

std::vector<Ports::DeviceLink> Ports::device_links() const {
  std::vector<DeviceLink> out;
  for (std::size_t index = 0; index < ports_.size(); ++index)
    if (ports_[index].device_interface().empty()) out.push_back({index, ports_[index].read_device_link()});
  return out;
}

}  // namespace guideway
