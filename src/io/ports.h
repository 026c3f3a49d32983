// Ports: all ports of the director and their twins, opened together or not at all.
// What: owns them, fills the port table, keeps their links, and says what each worker polls and sends on.
// Thread: control; opened before the workers start, closed after they stopped.
#pragma once

#include <memory>
#include <vector>

#include "guideway/result.h"
#include "io/port.h"
#include "io/transmitter.h"
#include "io/twin.h"
#include "snapshot/port_table.h"
#include "state/director_config.h"

namespace guideway {

// A port as one worker sees it.
struct PortLink {
  std::uint8_t port = 0;  // index into the port table
  std::uint16_t vlan = 0;
  std::vector<QueuePair> rx;
  Transmitter tx;
  std::vector<QueuePair> twin_rx;
  std::unique_ptr<Transmitter> twin_tx;  // null: no twin; the kernel has its own copy, or wants none
};

class Ports {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Ports>> open(const DirectorConfig& config);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  [[nodiscard]] const PortTable& table() const { return *table_; }
  [[nodiscard]] const std::vector<Port>& all() const { return ports_; }
  [[nodiscard]] std::vector<PortLink> links(std::size_t worker) const;
  // For packets that the data plane makes.
  [[nodiscard]] rte_mempool* pool() const { return ports_.front().pool(); }

  // Ports that the kernel shares by address (af_xdp): before a version of the site is published, its new services come
  // to us; after it, what is no service any more goes back.
  void add_services(const Site& site);
  void drop_other_services(const Site& site);

  // Any thread: what somebody who watches the link found.
  void set_link(std::size_t index, bool up);
  // Ports whose link only the device knows, with what it says now.
  struct DeviceLink {
    std::size_t port = 0;
    bool up = false;
  };
  [[nodiscard]] std::vector<DeviceLink> device_links() const;

 private:
  struct Rings;
  explicit Ports(const DirectorConfig& config);
  Result<void> make_handoffs();

  DirectorConfig config_;
  std::unique_ptr<PortTable> table_ = std::make_unique<PortTable>();
  std::vector<Port> ports_;
  std::vector<std::unique_ptr<Twin>> twins_;  // by port; null: none
  std::unique_ptr<Rings> rings_;
};

}  // namespace guideway
