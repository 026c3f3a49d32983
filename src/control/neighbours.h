// Neighbours: keeps the next hop of every backend as the host's routes and neighbours say.
// What: for each backend the FIB's egress interface and gateway, the port that owns this interface, and the
//       MAC of the neighbour there; written into NextHops. Or a static MAC (next_hop_mac).
// Why:  the workers must not ask the kernel, and their traffic never refreshes its entries: so they are asked
//       for, kept alive and confirmed here. A change of MAC, route or link acts at once and rebuilds nothing.
// How:  the kernel keeps the entries resolved (NTF_EXT_MANAGED, from 5.16 on; before: asked for again when
//       stale). Every confirm_interval the neighbour is asked at its MAC; one that does not answer within
//       answer_limit is asked for by broadcast (the kernel would wait for three seconds), its MAC staying in use
//       meanwhile. So a new MAC behind an old address is found within the sum of the two also when nobody
//       announces it. Permanent entries are left alone.
// Cost: one thread that sleeps; one ARP or ND packet a neighbour and confirm_interval, at most 500 a second.
// Not:  MTUs of routes; several paths of a route at once (the FIB's pick for the address is taken).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "command/live.h"
#include "guideway/address.h"
#include "guideway/result.h"
#include "snapshot/next_hops.h"

namespace guideway {

struct NeighbourPort {
  std::string name;       // as in director.toml
  std::uint8_t port = 0;  // index into the port table
  std::string
      kernel_interface;  // where its addresses, routes and neighbours live (twin or device); empty: none
  std::string device_interface;   // the kernel interface that frames leave by, whose link counts; empty: none
  std::optional<MacAddress> mac;  // next_hop_mac: every backend behind this port
};

struct LinkState {
  std::uint8_t port = 0;
  bool up = false;
  friend bool operator==(const LinkState&, const LinkState&) = default;
};

struct NeighbourOptions {
  std::chrono::milliseconds confirm_interval{1000};  // longer where there are more than 500 neighbours
  std::chrono::milliseconds answer_limit{250};       // on the way there and back, on a busy host
  std::chrono::milliseconds retry_interval{1000};    // of a neighbour that does not answer
  bool managed = true;                               // false: as on kernels before 5.16
};

class Neighbours {
 public:
  // Ports whose link changed (all of them once at the start): up is a device_interface that is up, and
  // set_device_link. Called by the Neighbours thread with no lock held.
  using LinkCallback = std::function<void(std::span<const LinkState>)>;

  // Opens its sockets in the caller's network namespace and starts the thread. `next_hops` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Neighbours>> start(std::vector<NeighbourPort> ports,
                                                                 NextHops& next_hops,
                                                                 LinkCallback on_link_change,
                                                                 NeighbourOptions options = {});
  // Stops the thread and gives the entries that it made managed back to the kernel's ordinary care.
  ~Neighbours();

  // Any thread; returns at once. Call it before the snapshot that names them is published: new ones are then
  // resolved in time (wait_settled). The cell of an address that is left out keeps its last value
  // for whoever still holds it.
  void set_backends(std::vector<IpAddress> backends);
  // Any thread. True once every backend of the last set_backends is resolved or known not to be resolvable
  // now (no route, link down, no answer); false when the time is up.
  [[nodiscard]] bool wait_settled(std::chrono::milliseconds limit);
  // Any thread. The link of a device that the kernel does not see (a NIC behind a twin); starts as up.
  void set_device_link(std::uint8_t port, bool up);

  // Any thread. One a backend, in the order of addresses; `via` says the way, or why there is none.
  [[nodiscard]] std::vector<NextHopReport> reports() const;
  [[nodiscard]] std::vector<LinkState> links() const;

 private:
  struct Impl;
  explicit Neighbours(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
