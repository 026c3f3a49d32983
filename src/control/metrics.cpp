#include "control/metrics.h"

#include <fmt/format.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace guideway {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Families = std::vector<MetricFamily>;

class MetricSamples {
 public:
  MetricSamples(MetricType type, std::string_view name, std::string_view help) {
    family_.type = type;
    family_.name = fmt::format("guideway_{}", name);
    family_.help = help;
  }
  void add(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family_.metric.push_back(std::move(metric));
  }
  // A family without a sample would only be noise.
  void to(Families& out) && {
    if (!family_.metric.empty()) out.push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
};

void single(Families& out, MetricType type, std::string_view name, std::string_view help, double value,
            Labels labels = {}) {
  MetricSamples family(type, name, help);
  family.add(value, std::move(labels));
  std::move(family).to(out);
}

template <class Item>
struct Column {
  std::string_view name, help;
  std::uint64_t Item::*field;
};

// A family a column, a sample an item.
template <class Item, std::size_t size>
void families(Families& out, MetricType type, const std::array<Column<Item>, size>& columns,
              const std::vector<Item>& items, const std::function<Labels(const Item&)>& labels) {
  for (const auto& column : columns) {
    MetricSamples family(type, column.name, column.help);
    for (const Item& item : items) family.add(static_cast<double>(item.*column.field), labels(item));
    std::move(family).to(out);
  }
}

// One sample an item and possible state: 1 for the state it is in.
template <class Item>
void states(Families& out, std::string_view name, std::string_view help, const std::vector<Item>& items,
            const std::function<Labels(const Item&)>& labels, std::initializer_list<std::string_view> names,
            const std::function<std::size_t(const Item&)>& state) {
  MetricSamples family(MetricType::Gauge, name, help);
  for (const Item& item : items) {
    std::size_t at = 0;
    for (const std::string_view text : names) {
      Labels all = labels(item);
      all.push_back({"state", std::string(text)});
      family.add(at++ == state(item) ? 1 : 0, std::move(all));
    }
  }
  std::move(family).to(out);
}

constexpr auto gauge = MetricType::Gauge;
constexpr auto counter = MetricType::Counter;

template <class Item>
Labels backend_labels(const Item& item) {
  return {{"pool", item.pool}, {"backend", item.backend}};
}

std::string hex(std::uint64_t value) { return fmt::format("{:#018x}", value); }

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void add_director(Families& out, const MetricsView& view) {
  single(out, gauge, "build_info", "Version of guidewayd.", 1, {{"version", GUIDEWAY_VERSION}});
  single(out, gauge, "uptime_seconds", "Time since the start.", static_cast<double>(view.uptime.count()));
  single(out, gauge, "memory_bytes", "Memory in use.", static_cast<double>(view.memory_bytes));
  single(out, gauge, "epoch", "Epoch of the site in use.", static_cast<double>(to_index(view.epoch)));
  single(out, gauge, "site_digest_info", "Site digest; equal on directors that route alike.", 1,
         {{"digest", hex(view.publish.site_digest)}});
  MetricSamples digests(gauge, "pool_digest_info",
                        "Site digest (every backend up) and rows digest (as things are).");
  for (const auto& pool : view.publish.pools)
    digests.add(1, {{"pool", pool.pool}, {"site_digest", hex(pool.site)}, {"rows_digest", hex(pool.rows)}});
  std::move(digests).to(out);
  MetricSamples forgotten(
      counter, "pool_rows_forgotten_total",
      "Rows of a pool without a flow table that a change of health took a stand-in from.");
  for (const auto& [pool, rows] : view.publish.rows_forgotten)
    forgotten.add(static_cast<double>(rows), {{"pool", pool}});
  std::move(forgotten).to(out);
  single(out, gauge, "snapshot_build_seconds", "Time to build the newest snapshot.",
         seconds(view.publish.build));
  single(out, gauge, "snapshot_publish_seconds", "Time to publish the newest snapshot.",
         seconds(view.publish.publish));
  single(out, gauge, "journal_write_seconds", "Time to make the newest version durable.",
         seconds(view.publish.journal));
  single(out, counter, "snapshots_published_total", "Snapshots published since the start.",
         static_cast<double>(view.publish.published));
}

void add_packets(Families& out, const StatsReport& stats) {
  single(out, counter, "received_packets_total", "Packets taken from all ports.",
         static_cast<double>(stats.packets_in));
  single(out, counter, "received_bytes_total", "Bytes taken from all ports.",
         static_cast<double>(stats.bytes_in));
  MetricSamples packets(counter, "packets_total", "Packets that were not dropped, by verdict.");
  MetricSamples bytes(counter, "bytes_total", "Bytes that were not dropped, by verdict.");
  MetricSamples dropped(counter, "dropped_packets_total", "Packets dropped, by reason.");
  MetricSamples dropped_bytes(counter, "dropped_bytes_total", "Bytes dropped, by reason.");
  for (std::size_t i = 0; i < verdict_count; ++i) {
    const bool drop = is_drop(static_cast<Verdict>(i));
    const Labels labels = {{drop ? "reason" : "verdict", std::string(verdict_names[i])}};
    (drop ? dropped : packets).add(static_cast<double>(stats.packets[i]), labels);
    (drop ? dropped_bytes : bytes).add(static_cast<double>(stats.bytes[i]), labels);
  }
  for (MetricSamples* family : {&packets, &bytes, &dropped, &dropped_bytes}) std::move(*family).to(out);
}

void add_services_and_workers(Families& out, const StatsReport& stats) {
  static constexpr std::array<Column<ServiceStats>, 4> service = {{
      {"service_packets_total", "Packets to the service.", &ServiceStats::packets},
      {"service_bytes_total", "Bytes of inner packets to the service.", &ServiceStats::bytes},
      {"service_new_flows_total", "New flows of the service.", &ServiceStats::new_flows},
      {"service_unmatched_packets_total", "Packets to its address that no service takes.",
       &ServiceStats::unmatched},
  }};
  families<ServiceStats>(out, counter, service, stats.services, [](const auto& item) {
    return Labels{{"service", item.service}};
  });
  static constexpr std::array<Column<WorkerStats>, 10> worker = {{
      {"worker_received_packets_total", "Packets taken by the worker.", &WorkerStats::packets_in},
      {"worker_received_bytes_total", "Bytes taken by the worker.", &WorkerStats::bytes_in},
      {"worker_bursts_total", "Polls that found packets.", &WorkerStats::bursts},
      {"worker_idle_polls_total", "Polls that found none.", &WorkerStats::polls_idle},
      {"worker_flows_created_total", "Entries made in the worker's flow table.", &WorkerStats::flows_created},
      {"worker_flows_evicted_total", "Entries that had to make room.", &WorkerStats::flows_evicted},
      {"worker_flows_refused_total", "New flows that found no room in the worker's flow table.",
       &WorkerStats::flows_refused},
      {"worker_stranger_packets_total",
       "Packets of TCP connections that go on and that the worker did not see begin.",
       &WorkerStats::strangers},
      {"worker_host_frames_total", "The host's own frames, by a port's twin, that the port took.",
       &WorkerStats::host_frames},
      {"worker_host_frames_lost_total", "The host's own frames that the port did not take.",
       &WorkerStats::host_frames_lost},
  }};
  static constexpr std::array<Column<WorkerStats>, 2> flow_table = {{
      {"worker_flow_table_entries",
       "Entries of the worker's flow table, ended ones too until its sweep has found them.",
       &WorkerStats::flow_entries},
      {"worker_flow_table_room",
       "Flows that the worker's flow table is made for; it takes up to a quarter more.",
       &WorkerStats::flow_room},
  }};
  const auto labels = [](const WorkerStats& item) { return Labels{{"lcore", std::to_string(item.lcore)}}; };
  families<WorkerStats>(out, counter, worker, stats.workers, labels);
  families<WorkerStats>(out, gauge, flow_table, stats.workers, labels);
}

void add_backends(Families& out, const MetricsView& view) {
  static constexpr std::array<Column<BackendStats>, 3> columns = {{
      {"backend_packets_total", "Packets sent to the backend.", &BackendStats::packets},
      {"backend_bytes_total", "Bytes of inner packets sent to the backend.", &BackendStats::bytes},
      {"backend_new_flows_total", "New flows given to the backend.", &BackendStats::new_flows},
  }};
  families<BackendStats>(out, counter, columns, view.stats.backends, backend_labels<BackendStats>);
  MetricSamples open(gauge, "backend_live_flows", "Open flows that a draining backend still has.");
  MetricSamples closing(gauge, "backend_closing_flows",
                        "Flows of a draining backend that have ended but not aged out.");
  MetricSamples unseen(gauge, "backend_unseen_flows",
                       "1 while a draining backend may have flows that are in no flow table, by the reason.");
  for (const auto& backend : view.stats.backends) {
    if (!backend.flows_left) continue;
    for (std::size_t i = 0; i < std::size(unseen_names); ++i) {
      Labels labels = backend_labels(backend);
      labels.push_back({"why", std::string(unseen_names[i])});
      const auto& found = backend.flows_left->unseen;
      unseen.add(found && static_cast<std::size_t>(found->why) == i ? 1 : 0, labels);
    }
    open.add(static_cast<double>(backend.flows_left->open), backend_labels(backend));
    closing.add(static_cast<double>(backend.flows_left->closing), backend_labels(backend));
  }
  std::move(open).to(out);
  std::move(closing).to(out);
  std::move(unseen).to(out);
  MetricSamples weights(gauge, "backend_weight", "Weight in the site.");
  for (const auto& backend : view.backends) weights.add(backend.weight, backend_labels(backend));
  std::move(weights).to(out);
  states<MetricsView::Backend>(out, "backend_state", "State in the site.", view.backends,
                               backend_labels<MetricsView::Backend>, {"active", "draining", "disabled"},
                               [](const auto& item) { return static_cast<std::size_t>(item.state); });
}

void add_health(Families& out, const MetricsView& view) {
  states<HealthReport>(out, "backend_health", "Health as the rows use it.", view.health,
                       backend_labels<HealthReport>, {"up", "down", "unknown"},
                       [](const auto& item) { return static_cast<std::size_t>(item.verdict); });
  MetricSamples age(gauge, "backend_health_age_seconds", "Time since the health last changed.");
  MetricSamples overridden(gauge, "backend_health_overridden", "1 while the health is set by hand.");
  std::map<std::string, bool> alarms;
  for (const auto& item : view.health) {
    age.add(seconds(item.since_change), backend_labels(item));
    overridden.add(item.override_value ? 1 : 0, backend_labels(item));
    alarms[item.pool] |= item.pool_alarm;
  }
  MetricSamples alarm(gauge, "pool_health_alarm", "1 while all backends are down that went down at once.");
  for (const auto& [pool, raised] : alarms) alarm.add(raised ? 1 : 0, {{"pool", pool}});
  for (MetricSamples* family : {&age, &overridden, &alarm}) std::move(*family).to(out);
}

void add_network(Families& out, const MetricsView& view) {
  static constexpr std::array<Column<PortReport>, 5> columns = {{
      {"port_received_packets_total", "Packets received by the device.", &PortReport::rx_packets},
      {"port_transmitted_packets_total", "Packets transmitted by the device.", &PortReport::tx_packets},
      {"port_missed_packets_total", "Packets the device had no room for.", &PortReport::rx_missed},
      {"port_receive_errors_total", "Packets received broken.", &PortReport::rx_errors},
      {"port_transmit_errors_total", "Packets that could not be transmitted.", &PortReport::tx_errors},
  }};
  const auto labels = [](const PortReport& port) { return Labels{{"port", port.name}}; };
  families<PortReport>(out, counter, columns, view.ports, labels);
  MetricSamples info(gauge, "port_info", "The device behind the port.");
  MetricSamples up(gauge, "port_link_up", "1 while the link is up.");
  MetricSamples mtu(gauge, "port_mtu_bytes", "MTU of the port.");
  for (const auto& port : view.ports) {
    info.add(1, {{"port", port.name},
                 {"device", port.device},
                 {"driver", port.driver},
                 {"kernel_interface", port.kernel_interface}});
    up.add(port.link_up ? 1 : 0, labels(port));
    mtu.add(port.mtu, labels(port));
  }
  MetricSamples steered(
      counter, "port_steered_packets_total",
      "Packets of an af_xdp port's interface, by where its program sent them; dropped: for a service, on a "
      "queue without a socket.");
  for (const auto& port : view.ports) {
    if (!port.steered) continue;
    const auto sample = [&](const char* to, std::uint64_t packets) {
      steered.add(static_cast<double>(packets), {{"port", port.name}, {"to", to}});
    };
    sample("socket", port.steered->to_socket);
    sample("kernel", port.steered->to_kernel);
    sample("dropped", port.steered->no_socket);
  }
  MetricSamples left_out(
      gauge, "port_services_left_out",
      "Services that an af_xdp port's list of addresses does not hold: the kernel gets their packets.");
  for (const auto& port : view.ports)
    if (port.steered) left_out.add(static_cast<double>(port.steered->services_left_out), labels(port));
  for (MetricSamples* family : {&info, &up, &mtu, &steered, &left_out}) std::move(*family).to(out);
  states<NextHopReport>(
      out, "next_hop_state", "Whether the backend's next hop can be sent to.", view.next_hops,
      [](const auto& item) {
        return Labels{{"address", item.address}};
      },
      {"unresolved", "resolved", "port_down"},
      [](const auto& item) { return static_cast<std::size_t>(item.next_hop.state); });
}

}  // namespace

MetricsView metrics_view(Live& live, const SiteVersion& version, PublishReport publish) {
  MetricsView view;
  view.epoch = version.epoch;
  view.publish = std::move(publish);
  view.stats = live.stats();
  view.health = live.health();
  view.ports = live.ports();
  view.next_hops = live.next_hops();
  view.uptime = live.uptime();
  view.memory_bytes = live.memory().resident_bytes;
  std::set<std::pair<std::string, std::string>> draining;
  for (const Pool& pool : version.site.pools) {
    for (const Backend& backend : pool.backends) {
      view.backends.push_back({pool.name, backend.name, backend.weight, backend.state});
      if (backend.state == BackendState::draining) draining.emplace(pool.name, backend.name);
    }
  }
  for (auto& backend : view.stats.backends)
    if (!backend.flows_left && draining.contains({backend.pool, backend.backend}))
      backend.flows_left = live.flows_left(backend.pool, backend.backend);
  return view;
}

std::string metrics_text(const MetricsView& view) {
  Families families;
  add_director(families, view);
  add_packets(families, view.stats);
  add_services_and_workers(families, view.stats);
  add_backends(families, view);
  add_health(families, view);
  add_network(families, view);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace guideway
