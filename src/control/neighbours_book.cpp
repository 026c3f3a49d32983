#include "control/neighbours_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ranges>

namespace guideway {
namespace {

using Clock = NeighbourBook::Clock;
using State = KernelNeighbour::State;

constexpr std::chrono::milliseconds ask_gap{50};     // between two requests for one neighbour
constexpr std::chrono::milliseconds confirm_gap{2};  // between two neighbours' confirmations, on average
// How long a MAC that failed stays in use while everybody is asked for the new one. (The kernel also says
// failed before it says deleted, and a deletion says nothing against the MAC.)
constexpr std::chrono::milliseconds doubt{100};

}  // namespace

NeighbourBook::NeighbourBook(std::vector<NeighbourPort> ports, NextHops& next_hops, NeighbourOptions options,
                             KernelQueries queries)
    : next_hops_(next_hops), options_(options), queries_(std::move(queries)) {
  for (auto& config : ports) ports_.push_back(Port{.config = std::move(config)});
}

void NeighbourBook::turn(KernelEvents& events) {
  std::vector<KernelRouteChange> routes;  // looked up once all events of the turn are in
  const bool complete = events.drain([&](const KernelEvent& event) {
    if (const auto* change = std::get_if<KernelRouteChange>(&event))
      routes.push_back(*change);
    else if (const auto* link = std::get_if<KernelLink>(&event))
      take(*link);
    else
      take(std::get<KernelNeighbour>(event));
  });
  if (!complete) {
    resync();
  } else if (std::ranges::any_of(routes, &KernelRouteChange::all)) {
    find_all_routes();
  } else {
    for (const auto& change : routes) take(change);
  }
  const auto now = Clock::now();
  for (auto& [key, entry] : entries_) {
    if (entry.doubted_until && *entry.doubted_until <= now) {
      entry.doubted_until.reset();
      entry.mac.reset();
      write_cells(entry);
    }
    if (entry.answer_due && *entry.answer_due <= now) ask_everybody(entry, now);
    if (entry.due <= now) attend(entry, now);
  }
}

std::chrono::milliseconds NeighbourBook::time_to_next() const {
  auto next = Clock::now() + options_.confirm_interval;
  for (const auto& [key, entry] : entries_)
    next = std::min({next, entry.due, entry.doubted_until.value_or(next), entry.answer_due.value_or(next)});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

void NeighbourBook::resync() {
  if (auto found = queries_.links()) {
    links_.clear();
    for (auto& link : *found) links_[link.ifindex] = std::move(link);
  } else {
    spdlog::error("neighbours: {}", found.error().text());
  }
  place_ports();
  find_all_routes();
  for (auto& [key, entry] : entries_)
    if (auto now = queries_.neighbour(key)) see(entry, *now);
}

void NeighbourBook::set_backends(const std::set<IpAddress>& wanted) {
  for (auto at = targets_.begin(); at != targets_.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    follow(at->first, at->second, std::nullopt);
    at = targets_.erase(at);
  }
  for (const IpAddress& address : wanted) {
    if (targets_.contains(address)) continue;
    auto cell = next_hops_.hold({&address, 1});
    if (!cell) {  // and the change that brings it is refused
      spdlog::error("neighbours: no room for {} beside {} addresses of backends", address.text(),
                    NextHops::capacity);
      continue;
    }
    Target& target = targets_[address];
    target.cell = std::move(*cell);
    find_route(address, target);
  }
}

// Links and ports.

void NeighbourBook::take(const KernelLink& link) {
  if (link.gone)
    links_.erase(link.ifindex);
  else
    links_[link.ifindex] = link;
  place_ports();
}

// Which interface belongs to which port, and whether its link is up. Where the addresses and routes are, names stay when
// indices change.
void NeighbourBook::place_ports() {
  bool changed = false;
  for (Port& port : ports_) {
    const auto find = [&](const std::string& name) {
      return std::ranges::find_if(links_, [&](const auto& link) { return link.second.name == name; });
    };
    const auto kernel = find(port.config.kernel_interface), device = find(port.config.device_interface);
    const unsigned ifindex = kernel == links_.end() ? 0 : kernel->first;
    if (port.device_ifindex == 0 && device != links_.end()) port.device_ifindex = device->first;
    const bool made_anew = device != links_.end() && device->first != port.device_ifindex;
    const bool kernel_up =
        port.config.device_interface.empty() || (device != links_.end() && !made_anew && device->second.up);
    if (made_anew && !port.made_anew)
      spdlog::error(
          "port {}: its interface {} was made anew, and its device is still the old one's: restart guidewayd",
          port.config.name, port.config.device_interface);
    port.made_anew = made_anew;
    const bool was_up = port.up();
    if (ifindex == port.ifindex && kernel_up == port.kernel_up) continue;
    changed = true;
    port.ifindex = ifindex;
    port.kernel_up = kernel_up;
    if (port.up() != was_up) link_changed(port);
  }
  if (changed) find_all_routes();
}

void NeighbourBook::link_changed(const Port& port) {
  link_changes_.push_back({port.config.port, port.up()});
  spdlog::log(port.up() ? spdlog::level::info : spdlog::level::warn, "port {}: link {}", port.config.name,
              port.up() ? "up" : "down");
  for (auto& [key, entry] : entries_)
    if (key.ifindex == port.ifindex) entry.due = Clock::now();
}

void NeighbourBook::set_device_link(std::uint8_t port_index, bool up) {
  for (Port& port : ports_) {
    if (port.config.port != port_index || port.device_up == up) continue;
    const bool was_up = port.up();
    port.device_up = up;
    if (port.up() == was_up) continue;
    link_changed(port);
    for (const auto& [address, target] : targets_) write_cell(target);
  }
}

const NeighbourBook::Port* NeighbourBook::only_static_port() const {
  return ports_.size() == 1 && ports_[0].config.mac ? &ports_[0] : nullptr;
}

const NeighbourBook::Port* NeighbourBook::port_of(unsigned ifindex) const {
  const auto found = std::ranges::find_if(
      ports_, [&](const Port& port) { return port.ifindex == ifindex && port.ifindex != 0; });
  return found == ports_.end() ? nullptr : &*found;
}

// Routes.

// An address sorts by its bytes, so that a prefix is a range of the map.
void NeighbourBook::take(const KernelRouteChange& change) {
  for (auto at = targets_.lower_bound(change.first); at != targets_.end() && at->first <= change.last; ++at)
    find_route(at->first, at->second);
}

void NeighbourBook::find_all_routes() {
  for (auto& [address, target] : targets_) find_route(address, target);
}

void NeighbourBook::find_route(const IpAddress& address, Target& target) {
  std::optional<NeighbourKey> key;
  target.port = only_static_port();
  target.no_route.clear();
  if (target.port == nullptr) {
    if (const auto route = queries_.route_to(address)) {
      target.route = *route;
      if (!route->local) target.port = port_of(route->ifindex);
      if (target.port != nullptr && !target.port->config.mac)
        key = NeighbourKey{route->ifindex, route->gateway.value_or(address)};
    } else {
      target.no_route = route.error().text();
    }
  }
  if (target.port != nullptr) target.port_before = target.port;
  follow(address, target, key);
  write_cell(target);
}

// Makes `key` the neighbour that the target is reached by.
void NeighbourBook::follow(const IpAddress& address, Target& target, std::optional<NeighbourKey> key) {
  if (target.neighbour == key) return;
  if (target.neighbour) {
    const auto old = entries_.find(*target.neighbour);
    old->second.users.erase(address);
    if (old->second.users.empty()) {
      release(old->first, old->second);
      entries_.erase(old);
    }
  }
  target.neighbour = key;
  if (!key) return;
  const auto [at, fresh] = entries_.try_emplace(*key);
  at->second.users.insert(address);
  if (!fresh) return;
  Entry& entry = at->second;
  entry.seen.key = *key;
  if (const auto now = queries_.neighbour(*key)) see(entry, *now);
  entry.ours = !entry.seen.managed;
  attend(entry, Clock::now());
}

// Neighbours.

void NeighbourBook::take(const KernelNeighbour& neighbour) {
  const auto at = entries_.find(neighbour.key);
  if (at == entries_.end()) return;
  see(at->second, neighbour);
  if (neighbour.state == State::failed) at->second.failed = true;
}

void NeighbourBook::see(Entry& entry, const KernelNeighbour& neighbour) {
  const auto mac_before = entry.mac;
  entry.seen = neighbour;
  switch (neighbour.state) {
    case State::usable:
    case State::fixed:
      entry.mac = neighbour.mac;
      entry.doubted_until.reset();
      break;
    case State::failed:
      if (entry.mac && !entry.doubted_until) entry.doubted_until = Clock::now() + doubt;
      break;
    case State::none:
      entry.doubted_until.reset();
      break;
    case State::incomplete:
      break;
  }
  if (neighbour.confirmed || neighbour.state != State::usable || entry.mac != mac_before)
    entry.answer_due.reset();
  // Gone, or no answer under the MAC it had: asked for at once, by broadcast.
  if (neighbour.state == State::none || (neighbour.state == State::failed && entry.mac))
    entry.due = std::min(entry.due, entry.asked + ask_gap);
  if (entry.mac) entry.failed = false;
  if (entry.mac != mac_before) write_cells(entry);
}

void NeighbourBook::write_cells(const Entry& entry) {
  for (const IpAddress& user : entry.users) write_cell(targets_.at(user));
}

// Asks for what is not resolved, confirms what is.
void NeighbourBook::attend(Entry& entry, Clock::time_point now) {
  const NeighbourKey& key = entry.seen.key;
  const bool resolved = entry.seen.state == State::usable || entry.seen.state == State::fixed;
  const bool kept_by_others = entry.seen.state == State::fixed || (resolved && entry.seen.learned);
  entry.due = now + (resolved ? confirm_interval() : options_.retry_interval);
  const Port* port = port_of(key.ifindex);
  if (kept_by_others || port == nullptr || !port->up()) return;
  Result<void> done;
  // The first time an entry is only made managed, which asks for it when it is stale.
  if (resolved && entry.asked != Clock::time_point{}) {
    done = queries_.probe(key);
    if (done) entry.answer_due = now + options_.answer_limit;
  }
  if (done && (!resolved || options_.managed)) done = queries_.resolve(key, options_.managed);
  entry.trouble = done ? "" : done.error().text();
  entry.asked = now;
}

// No answer from the MAC: its owner may have got another one. A deletion says nothing against the MAC in use.
void NeighbourBook::ask_everybody(Entry& entry, Clock::time_point now) {
  entry.answer_due.reset();
  const Port* port = port_of(entry.seen.key.ifindex);
  if (port == nullptr || !port->up()) return;
  auto done = queries_.forget(entry.seen.key);
  if (done) done = queries_.resolve(entry.seen.key, options_.managed);
  entry.trouble = done ? "" : done.error().text();
  entry.asked = now;
}

std::chrono::milliseconds NeighbourBook::confirm_interval() const {
  return std::max(options_.confirm_interval, confirm_gap * static_cast<int>(entries_.size()));
}

// Asking without the managed flag takes the flag away.
void NeighbourBook::release(const NeighbourKey& key, const Entry& entry) {
  if (!entry.ours || !entry.seen.managed) return;
  if (const auto done = queries_.resolve(key, false); !done)
    spdlog::debug("neighbours: {}", done.error().text());
}

void NeighbourBook::release_all() {
  for (const auto& [key, entry] : entries_) release(key, entry);
}

// Cells and reports.

NextHop NeighbourBook::next_hop_of(const Target& target) const {
  const Port* port = target.port;
  if (port == nullptr && target.port_before != nullptr && !target.port_before->up())
    port = target.port_before;
  if (port == nullptr) return {};
  NextHop out;
  out.port = port->config.port;
  std::optional<MacAddress> mac = port->config.mac;
  if (!mac && target.neighbour) mac = entries_.at(*target.neighbour).mac;
  if (mac) out.mac = *mac;
  out.state = !port->up() ? NextHop::State::port_down
              : mac       ? NextHop::State::resolved
                          : NextHop::State::unresolved;
  out.behind_router = out.state == NextHop::State::resolved && target.route.gateway && !port->config.mac;
  return out;
}

void NeighbourBook::write_cell(const Target& target) {
  const NextHop next_hop = next_hop_of(target);
  if (next_hops_.get(target.cell[0]) != next_hop) next_hops_.set(target.cell[0], next_hop);
}

bool NeighbourBook::settled() const {
  return std::ranges::all_of(targets_, [&](const auto& item) {
    const Target& target = item.second;
    if (!target.neighbour || !target.port->up()) return true;
    const Entry& entry = entries_.at(*target.neighbour);
    return entry.mac || entry.failed || !entry.trouble.empty();
  });
}

std::string NeighbourBook::describe(const IpAddress& address, const Target& target) const {
  const auto interfaces = [&] {
    std::vector<std::string> names;
    for (const Port& port : ports_)
      if (!port.config.kernel_interface.empty()) names.push_back(port.config.kernel_interface);
    return names.empty() ? std::string("give a port next_hop_mac, or a kernel_interface with a route")
                         : fmt::format("route it by {}", fmt::join(names, " or "));
  };
  if (target.port == nullptr) {
    if (target.port_before != nullptr && !target.port_before->up())
      return fmt::format("the link of port {} is down; check the cable or `ip link`",
                         target.port_before->config.name);
    if (!target.no_route.empty()) return target.no_route;
    if (target.route.local)
      return fmt::format("{} is an address of this host itself; {}", address.text(), interfaces());
    const auto link = links_.find(target.route.ifindex);
    return fmt::format("its route leaves by {}, which belongs to no port; {}",
                       link == links_.end() ? "an unknown interface" : link->second.name, interfaces());
  }
  const std::string& port = target.port->config.name;
  if (!target.port->up())
    return fmt::format("the link of port {} is down; check the cable or `ip link`", port);
  if (target.port->config.mac) return fmt::format("port {}, static next_hop_mac", port);
  const Entry& entry = entries_.at(*target.neighbour);
  const std::string way = target.route.gateway
                              ? fmt::format("port {} by {}", port, target.route.gateway->text())
                              : fmt::format("port {}, on-link", port);
  if (entry.mac) return way;
  if (!entry.trouble.empty()) return fmt::format("{}: {}", way, entry.trouble);
  return fmt::format("{}: {} does not answer on {}; check that it is up and in the same network", way,
                     target.neighbour->address.text(), target.port->config.kernel_interface);
}

std::vector<NextHopReport> NeighbourBook::reports() const {
  std::vector<NextHopReport> out;
  out.reserve(targets_.size());
  for (const auto& [address, target] : targets_)
    out.push_back({address.text(), next_hop_of(target), describe(address, target)});
  return out;
}

std::vector<LinkState> NeighbourBook::links() const {
  std::vector<LinkState> out;
  for (const Port& port : ports_) out.push_back({port.config.port, port.up()});
  return out;
}

}  // namespace guideway
