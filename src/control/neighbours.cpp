#include "control/neighbours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "control/neighbours_kernel.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;
using State = KernelNeighbour::State;

constexpr std::chrono::milliseconds ask_gap{50};  // between two requests for one neighbour
// How long a MAC that failed stays in use while everybody is asked for the new one. (The kernel also says
// failed before it says deleted, and a deletion says nothing against the MAC.)
constexpr std::chrono::milliseconds doubt{100};

struct Port {
  NeighbourPort config;
  unsigned ifindex = 0;    // of kernel_interface; 0: it does not exist
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
  bool ours = false;    // we made it managed
  bool failed = false;  // no answer to the last request, or none since
  std::string trouble;  // why the kernel would not take our last request
  Clock::time_point asked{}, due{};
  std::set<IpAddress> users;
};

struct Target {
  NextHopIndex cell = 0;
  KernelRoute route;
  std::string no_route;  // a sentence; empty: `route` holds
  const Port* port = nullptr;
  const Port* port_before = nullptr;  // tells a link that is down from a route that never was
  std::optional<NeighbourKey> neighbour;
};

}  // namespace

struct Neighbours::Impl {
  NextHops& next_hops;
  const LinkCallback on_link_change;
  const NeighbourOptions options;
  KernelQueries queries;
  KernelEvents events;
  const int wake;  // eventfd

  mutable std::mutex mutex;  // everything below
  std::condition_variable turned;
  std::vector<Port> ports;
  std::map<unsigned, KernelLink> links;
  std::map<IpAddress, Target> targets;
  std::map<NeighbourKey, Entry> entries;
  std::optional<std::vector<IpAddress>> inbox;
  std::vector<LinkState> link_changes;  // not yet told
  bool started = false, stopping = false;

  std::thread thread;

  Impl(std::vector<NeighbourPort> configs, NextHops& cells, LinkCallback callback, NeighbourOptions wanted,
       KernelQueries asked, KernelEvents told, int wake_descriptor)
      : next_hops(cells),
        on_link_change(std::move(callback)),
        options(wanted),
        queries(std::move(asked)),
        events(std::move(told)),
        wake(wake_descriptor) {
    for (auto& config : configs) ports.push_back(Port{.config = std::move(config)});
  }
  ~Impl() { close(wake); }

  void kick() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t done = write(wake, &one, sizeof one);  // full means: already awake
  }

  void run();
  void turn();
  void resync();
  void take(const KernelLink& link);
  void take(const KernelNeighbour& neighbour);
  void take(const KernelRouteChange& change);
  void place_ports();
  void take_inbox();

  void find_routes(const IpAddress& first, const IpAddress& last);
  void find_all_routes();
  void find_route(const IpAddress& address, Target& target);
  void follow(const IpAddress& address, Target& target, std::optional<NeighbourKey> key);
  void release(const NeighbourKey& key, const Entry& entry);
  void see(Entry& entry, const KernelNeighbour& neighbour);
  void attend(Entry& entry, Clock::time_point now);
  void write_cell(const Target& target);
  void write_cells(const Entry& entry);

  [[nodiscard]] NextHop next_hop_of(const Target& target) const;
  [[nodiscard]] bool settled() const;
  [[nodiscard]] std::string describe(const IpAddress& address, const Target& target) const;
  [[nodiscard]] const Port* only_static_port() const {
    return ports.size() == 1 && ports[0].config.mac ? &ports[0] : nullptr;
  }
  [[nodiscard]] const Port* port_of(unsigned ifindex) const {
    const auto found = std::ranges::find_if(
        ports, [&](const Port& port) { return port.ifindex == ifindex && port.ifindex != 0; });
    return found == ports.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool usable(unsigned ifindex) const {
    const Port* port = port_of(ifindex);
    return port != nullptr && port->up();
  }
  [[nodiscard]] int time_to_next() const;
};

// The thread.

void Neighbours::Impl::run() {
  {
    const std::lock_guard lock(mutex);
    resync();
    for (const Port& port : ports) link_changes.push_back({port.config.port, port.up()});
    started = true;
  }
  for (;;) {
    std::vector<LinkState> changes;
    int wait_ms = 0;
    {
      const std::lock_guard lock(mutex);
      turn();
      if (stopping) return;
      changes.swap(link_changes);
      wait_ms = time_to_next();
    }
    turned.notify_all();
    if (!changes.empty() && on_link_change) on_link_change(changes);
    std::array<pollfd, 2> waiting{{{events.descriptor(), POLLIN, 0}, {wake, POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), wait_ms);
    if (waiting[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake, &count, sizeof count);
    }
  }
}

void Neighbours::Impl::turn() {
  take_inbox();
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
  for (auto& [key, entry] : entries) {
    if (entry.doubted_until && *entry.doubted_until <= now) {
      entry.doubted_until.reset();
      entry.mac.reset();
      write_cells(entry);
    }
    if (entry.due <= now) attend(entry, now);
  }
}

int Neighbours::Impl::time_to_next() const {
  auto next = Clock::now() + options.confirm_interval;
  for (const auto& [key, entry] : entries)
    next = std::min({next, entry.due, entry.doubted_until.value_or(next)});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Neighbours::Impl::resync() {
  if (auto found = queries.links()) {
    links.clear();
    for (auto& link : *found) links[link.ifindex] = std::move(link);
  } else {
    spdlog::error("neighbours: {}", found.error().text());
  }
  place_ports();
  find_all_routes();
  for (auto& [key, entry] : entries)
    if (auto now = queries.neighbour(key)) see(entry, *now);
}

void Neighbours::Impl::take_inbox() {
  if (!inbox) return;
  const std::set<IpAddress> wanted(inbox->begin(), inbox->end());
  inbox.reset();
  for (auto at = targets.begin(); at != targets.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    follow(at->first, at->second, std::nullopt);
    at = targets.erase(at);
  }
  for (const IpAddress& address : wanted) {
    if (targets.contains(address)) continue;
    const auto cell = next_hops.index_of(address);
    if (!cell) {
      spdlog::error(
          "neighbours: no room for {}: {} backend addresses are the most of one run; restart guidewayd",
          address.text(), NextHops::capacity);
      continue;
    }
    Target& target = targets[address];
    target.cell = *cell;
    find_route(address, target);
  }
}

// Links and ports.

void Neighbours::Impl::take(const KernelLink& link) {
  if (link.gone)
    links.erase(link.ifindex);
  else
    links[link.ifindex] = link;
  place_ports();
}

// Which interface belongs to which port, and whether its link is up; names stay when indices change.
void Neighbours::Impl::place_ports() {
  bool changed = false;
  for (Port& port : ports) {
    const auto find = [&](const std::string& name) {
      return std::ranges::find_if(links, [&](const auto& link) { return link.second.name == name; });
    };
    const auto kernel = find(port.config.kernel_interface), device = find(port.config.device_interface);
    const unsigned ifindex = kernel == links.end() ? 0 : kernel->first;
    const bool kernel_up =
        port.config.device_interface.empty() || (device != links.end() && device->second.up);
    const bool was_up = port.up();
    if (ifindex == port.ifindex && kernel_up == port.kernel_up) continue;
    changed = true;
    port.ifindex = ifindex;
    port.kernel_up = kernel_up;
    if (port.up() == was_up) continue;
    if (started) {
      link_changes.push_back({port.config.port, port.up()});
      spdlog::warn("port {}: link {}", port.config.name, port.up() ? "up" : "down");
    }
    for (auto& [key, entry] : entries)
      if (key.ifindex == ifindex) entry.due = Clock::now();
  }
  if (changed) find_all_routes();
}

// Routes.

void Neighbours::Impl::take(const KernelRouteChange& change) { find_routes(change.first, change.last); }

// An address sorts by its bytes, so that a prefix is a range of the map.
void Neighbours::Impl::find_routes(const IpAddress& first, const IpAddress& last) {
  for (auto at = targets.lower_bound(first); at != targets.end() && at->first <= last; ++at)
    find_route(at->first, at->second);
}

void Neighbours::Impl::find_all_routes() {
  for (auto& [address, target] : targets) find_route(address, target);
}

void Neighbours::Impl::find_route(const IpAddress& address, Target& target) {
  std::optional<NeighbourKey> key;
  target.port = only_static_port();
  target.no_route.clear();
  if (target.port == nullptr) {
    if (const auto route = queries.route_to(address)) {
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
void Neighbours::Impl::follow(const IpAddress& address, Target& target, std::optional<NeighbourKey> key) {
  if (target.neighbour == key) return;
  if (target.neighbour) {
    const auto old = entries.find(*target.neighbour);
    old->second.users.erase(address);
    if (old->second.users.empty()) {
      release(old->first, old->second);
      entries.erase(old);
    }
  }
  target.neighbour = key;
  if (!key) return;
  const auto [at, fresh] = entries.try_emplace(*key);
  at->second.users.insert(address);
  if (!fresh) return;
  Entry& entry = at->second;
  entry.seen.key = *key;
  if (const auto now = queries.neighbour(*key)) see(entry, *now);
  entry.ours = !entry.seen.managed;
  attend(entry, Clock::now());
}

// Neighbours.

void Neighbours::Impl::take(const KernelNeighbour& neighbour) {
  const auto at = entries.find(neighbour.key);
  if (at == entries.end()) return;
  see(at->second, neighbour);
  if (neighbour.state == State::failed) at->second.failed = true;
}

void Neighbours::Impl::see(Entry& entry, const KernelNeighbour& neighbour) {
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
  // Gone, or no answer under the MAC it had: asked for at once, by broadcast.
  if (neighbour.state == State::none || (neighbour.state == State::failed && entry.mac))
    entry.due = std::min(entry.due, entry.asked + ask_gap);
  if (entry.mac) entry.failed = false;
  if (entry.mac != mac_before) write_cells(entry);
}

void Neighbours::Impl::write_cells(const Entry& entry) {
  for (const IpAddress& user : entry.users) write_cell(targets.at(user));
}

// Asks for what is not resolved, confirms what is.
void Neighbours::Impl::attend(Entry& entry, Clock::time_point now) {
  const NeighbourKey& key = entry.seen.key;
  const bool resolved = entry.seen.state == State::usable || entry.seen.state == State::fixed;
  const bool kept_by_others = entry.seen.state == State::fixed || (resolved && entry.seen.learned);
  entry.due = now + (resolved ? options.confirm_interval : options.retry_interval);
  if (kept_by_others || !usable(key.ifindex)) return;
  Result<void> done;
  // The first time an entry is only made managed, which asks for it when it is stale.
  if (resolved && entry.asked != Clock::time_point{}) done = queries.probe(key);
  if (done && (!resolved || options.managed)) done = queries.resolve(key, options.managed);
  entry.trouble = done ? "" : done.error().text();
  entry.asked = now;
}

// Asking without the managed flag takes the flag away.
void Neighbours::Impl::release(const NeighbourKey& key, const Entry& entry) {
  if (!entry.ours || !entry.seen.managed) return;
  if (const auto done = queries.resolve(key, false); !done)
    spdlog::debug("neighbours: {}", done.error().text());
}

// Cells and reports.

NextHop Neighbours::Impl::next_hop_of(const Target& target) const {
  const Port* port = target.port;
  if (port == nullptr && target.port_before != nullptr && !target.port_before->up())
    port = target.port_before;
  if (port == nullptr) return {};
  NextHop out;
  out.port = port->config.port;
  std::optional<MacAddress> mac = port->config.mac;
  if (!mac && target.neighbour) mac = entries.at(*target.neighbour).mac;
  if (mac) out.mac = *mac;
  out.state = !port->up() ? NextHop::State::port_down
              : mac       ? NextHop::State::resolved
                          : NextHop::State::unresolved;
  return out;
}

void Neighbours::Impl::write_cell(const Target& target) {
  const NextHop next_hop = next_hop_of(target);
  if (next_hops.get(target.cell) != next_hop) next_hops.set(target.cell, next_hop);
}

bool Neighbours::Impl::settled() const {
  if (!started || inbox) return false;
  return std::ranges::all_of(targets, [&](const auto& item) {
    const Target& target = item.second;
    if (!target.neighbour || !target.port->up()) return true;
    const Entry& entry = entries.at(*target.neighbour);
    return entry.mac || entry.failed || !entry.trouble.empty();
  });
}

std::string Neighbours::Impl::describe(const IpAddress& address, const Target& target) const {
  const auto interfaces = [&] {
    std::vector<std::string> names;
    for (const Port& port : ports)
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
    const auto link = links.find(target.route.ifindex);
    return fmt::format("its route leaves by {}, which belongs to no port; {}",
                       link == links.end() ? "an unknown interface" : link->second.name, interfaces());
  }
  const std::string& port = target.port->config.name;
  if (!target.port->up())
    return fmt::format("the link of port {} is down; check the cable or `ip link`", port);
  if (target.port->config.mac) return fmt::format("port {}, static next_hop_mac", port);
  const Entry& entry = entries.at(*target.neighbour);
  const std::string way = target.route.gateway
                              ? fmt::format("port {} by {}", port, target.route.gateway->text())
                              : fmt::format("port {}, on-link", port);
  if (entry.mac) return way;
  if (!entry.trouble.empty()) return fmt::format("{}: {}", way, entry.trouble);
  return fmt::format("{}: {} does not answer on {}; check that it is up and in the same network", way,
                     target.neighbour->address.text(), target.port->config.kernel_interface);
}

// The public face.

Neighbours::Neighbours(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Neighbours>> Neighbours::start(std::vector<NeighbourPort> ports, NextHops& next_hops,
                                                      LinkCallback on_link_change, NeighbourOptions options) {
  // Events first: what changes between the first look and the first event must not be missed.
  auto events = KernelEvents::open();
  if (!events) return tl::unexpected(events.error());
  auto queries = KernelQueries::open();
  if (!queries) return tl::unexpected(queries.error());
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0)
    return fail(ErrorKind::internal, "neighbours: no eventfd", {}, "raise the limit of open files");
  auto impl = std::make_unique<Impl>(std::move(ports), next_hops, std::move(on_link_change), options,
                                     std::move(*queries), std::move(*events), wake);
  Impl* raw = impl.get();
  raw->thread = std::thread([raw] { raw->run(); });
  return std::unique_ptr<Neighbours>(new Neighbours(std::move(impl)));
}

Neighbours::~Neighbours() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->kick();
  impl_->thread.join();
  for (const auto& [key, entry] : impl_->entries) impl_->release(key, entry);
}

void Neighbours::set_backends(std::vector<IpAddress> backends) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->inbox = std::move(backends);
  }
  impl_->kick();
}

bool Neighbours::wait_settled(std::chrono::milliseconds limit) {
  std::unique_lock lock(impl_->mutex);
  return impl_->turned.wait_for(lock, limit, [this] { return impl_->settled(); });
}

void Neighbours::set_device_link(std::uint8_t port_index, bool up) {
  {
    const std::lock_guard lock(impl_->mutex);
    for (Port& port : impl_->ports) {
      if (port.config.port != port_index || port.device_up == up) continue;
      const bool was_up = port.up();
      port.device_up = up;
      if (port.up() == was_up) continue;
      impl_->link_changes.push_back({port_index, port.up()});
      for (auto& [key, entry] : impl_->entries)
        if (key.ifindex == port.ifindex) entry.due = Clock::now();
      for (const auto& [address, target] : impl_->targets) impl_->write_cell(target);
    }
  }
  impl_->kick();
}

std::vector<NextHopReport> Neighbours::reports() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<NextHopReport> out;
  out.reserve(impl_->targets.size());
  for (const auto& [address, target] : impl_->targets)
    out.push_back({address.text(), impl_->next_hop_of(target), impl_->describe(address, target)});
  return out;
}

std::vector<LinkState> Neighbours::links() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<LinkState> out;
  for (const Port& port : impl_->ports) out.push_back({port.config.port, port.up()});
  return out;
}

}  // namespace guideway
