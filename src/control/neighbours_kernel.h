// Kernel neighbours: what Linux knows of links, routes and neighbours, by rtnetlink.
// What: plain values and two sockets: queries (asked and answered) and events (multicast, to be polled).
// Why:  the addresses, routes, ARP and ND of a director live in the kernel, also for a NIC that DPDK owns.
// Cost: one request and one answer a query, about 10 us.
// Not:  what follows from it for a backend (neighbours.h).
// Thread: each socket belongs to one thread, and to the network namespace in which it was opened.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"
#include "snapshot/next_hops.h"

struct mnl_socket;
struct nlmsghdr;

namespace guideway {

struct KernelLink {
  unsigned ifindex = 0;
  std::string name;
  bool up = false;  // administratively up and with a carrier
  bool gone = false;
};

// Where the FIB sends one address.
struct KernelRoute {
  bool local = false;  // the host's own address
  unsigned ifindex = 0;
  std::optional<IpAddress> gateway;  // absent: on-link; may be of the other family
  friend bool operator==(const KernelRoute&, const KernelRoute&) = default;
};

struct NeighbourKey {
  unsigned ifindex = 0;
  IpAddress address;
  friend auto operator<=>(const NeighbourKey&, const NeighbourKey&) = default;
};

struct KernelNeighbour {
  NeighbourKey key;
  enum class State : std::uint8_t {
    none,        // no entry, or one that nobody asked to resolve
    incomplete,  // asked for, no answer yet
    usable,      // reachable, stale, delay, probe
    fixed,       // permanent or without ARP: set by hand, not ours to touch
    failed,      // asked for, no answer
  } state = State::none;
  std::optional<MacAddress> mac;
  bool confirmed = false;  // usable, and heard of lately (reachable)
  bool managed = false;    // the kernel keeps it resolved (NTF_EXT_MANAGED)
  bool learned = false;    // some control plane of the host keeps it (NTF_EXT_LEARNED), not ours to touch
};

// Addresses whose route may have changed: those in the prefix, or all.
struct KernelRouteChange {
  bool all = false;
  IpAddress first, last;  // inclusive, of one family; without `all`
};

using KernelEvent = std::variant<KernelLink, KernelNeighbour, KernelRouteChange>;

class KernelQueries {
 public:
  [[nodiscard]] static Result<KernelQueries> open();

  [[nodiscard]] Result<std::vector<KernelLink>> links();
  // The error's `what` is a sentence on the route ("no route to 10.0.1.11: Network is unreachable").
  [[nodiscard]] Result<KernelRoute> route_to(const IpAddress& address);
  // No entry is State::none.
  [[nodiscard]] Result<KernelNeighbour> neighbour(const NeighbourKey& key);

  // Resolve it, and (managed) keep it resolved. Kernels before 5.16 take `managed` as "resolve it once".
  [[nodiscard]] Result<void> resolve(const NeighbourKey& key, bool managed);
  // Ask a usable neighbour whether it is still there under its MAC. Ends `managed`.
  [[nodiscard]] Result<void> probe(const NeighbourKey& key);
  // Take the entry away, so that the next resolve() asks everybody.
  [[nodiscard]] Result<void> forget(const NeighbourKey& key);

 private:
  using Socket = std::unique_ptr<mnl_socket, int (*)(mnl_socket*)>;
  explicit KernelQueries(Socket socket) : socket_(std::move(socket)) {}
  // 0, or the negative errno of the answer; `take` sees each message of the answer.
  int ask(nlmsghdr& request, const std::function<void(const nlmsghdr&)>& take);
  int change_neighbour(const NeighbourKey& key, std::uint16_t state, std::uint8_t flags, std::uint32_t ext);

  Socket socket_;
  std::uint32_t sequence_ = 0;
};

class KernelEvents {
 public:
  [[nodiscard]] static Result<KernelEvents> open();
  [[nodiscard]] int descriptor() const;

  // Hands over what is queued, up to a bound, without blocking. false: events were lost, everything has to be asked anew.
  [[nodiscard]] bool drain(const std::function<void(const KernelEvent&)>& take);

 private:
  using Socket = std::unique_ptr<mnl_socket, int (*)(mnl_socket*)>;
  explicit KernelEvents(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

}  // namespace guideway
