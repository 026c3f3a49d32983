// Neighbour book: what neighbours.h knows of links, routes and neighbours, and what follows for each backend.
// What: the state behind Neighbours; asks the kernel, takes its events, writes the cells of NextHops.
// Why:  kept apart from the thread and its lock, so that each can be read alone.
// Not:  thread-safe; the caller serialises.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/neighbours.h"
#include "control/neighbours_kernel.h"

namespace guideway {

class NeighbourBook {
 public:
  using Clock = std::chrono::steady_clock;

  NeighbourBook(std::vector<NeighbourPort> ports, NextHops& next_hops, NeighbourOptions options,
                KernelQueries queries);

  // Asks for everything anew: at the start, and when events were lost.
  void resync();
  // Takes what `events` has queued and does what is due.
  void turn(KernelEvents& events);
  [[nodiscard]] std::chrono::milliseconds time_to_next() const;

  void set_backends(const std::set<IpAddress>& wanted);
  void set_device_link(std::uint8_t port, bool up);
  // Gives the entries that were made managed back.
  void release_all();

  // Ports whose link changed since the last call.
  [[nodiscard]] std::vector<LinkState> take_link_changes() { return std::exchange(link_changes_, {}); }
  [[nodiscard]] bool settled() const;
  [[nodiscard]] std::vector<NextHopReport> reports() const;
  [[nodiscard]] std::vector<LinkState> links() const;

 private:
  struct Port {
    NeighbourPort config;
    unsigned ifindex = 0;  // of kernel_interface; 0: it does not exist
    // Of device_interface, as it was found first: the port's device holds on to that one, so another one of the same
    // name, made anew, is not the port's.
    unsigned device_ifindex = 0;
    bool made_anew = false;  // what has its name now is another one
    bool kernel_up = false;  // device_interface is up, or there is none
    bool device_up = true;   // set_device_link
    [[nodiscard]] bool up() const { return kernel_up && device_up; }
  };

  // A neighbour that at least one backend is reached by.
  struct Entry {
    KernelNeighbour seen;
    // The MAC in use. A deleted or incomplete entry says nothing against it; a failed one ends it.
    std::optional<MacAddress> mac;
    std::optional<Clock::time_point> doubted_until;
    std::optional<Clock::time_point> answer_due;  // of a neighbour that was asked at its MAC
    bool ours = false;                            // we made it managed
    bool failed = false;                          // no answer to the last request, or none since
    std::string trouble;                          // why the kernel would not take our last request
    Clock::time_point asked{}, due{};
    std::set<IpAddress> users;
  };

  struct Target {
    NextHopLease cell;  // its one
    KernelRoute route;
    std::string no_route;  // a sentence; empty: `route` holds
    const Port* port = nullptr;
    const Port* port_before = nullptr;  // tells a link that is down from a route that never was
    std::optional<NeighbourKey> neighbour;
  };

  void take(const KernelLink& link);
  void take(const KernelNeighbour& neighbour);
  void take(const KernelRouteChange& change);
  void place_ports();
  void link_changed(const Port& port);

  void find_all_routes();
  void find_route(const IpAddress& address, Target& target);
  void follow(const IpAddress& address, Target& target, std::optional<NeighbourKey> key);
  void release(const NeighbourKey& key, const Entry& entry);
  void see(Entry& entry, const KernelNeighbour& neighbour);
  void attend(Entry& entry, Clock::time_point now);
  void ask_everybody(Entry& entry, Clock::time_point now);
  [[nodiscard]] std::chrono::milliseconds confirm_interval() const;
  void write_cell(const Target& target);
  void write_cells(const Entry& entry);

  [[nodiscard]] NextHop next_hop_of(const Target& target) const;
  [[nodiscard]] std::string describe(const IpAddress& address, const Target& target) const;
  [[nodiscard]] const Port* only_static_port() const;
  [[nodiscard]] const Port* port_of(unsigned ifindex) const;

  NextHops& next_hops_;
  const NeighbourOptions options_;
  KernelQueries queries_;
  std::vector<Port> ports_;  // never grows: targets point into it
  std::map<unsigned, KernelLink> links_;
  std::map<IpAddress, Target> targets_;
  std::map<NeighbourKey, Entry> entries_;
  std::vector<LinkState> link_changes_;
};

}  // namespace guideway
