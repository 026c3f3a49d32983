#include "daemon/live.h"

#include <unistd.h>

#include <fstream>

#include "state/snapshot_names.h"

namespace guideway {

void LiveDirector::site_changed(std::shared_ptr<const SiteVersion> version,
                                std::shared_ptr<const Snapshot> snapshot) {
  flow_tables_.site_changed(version, snapshot);
  const std::lock_guard lock(mutex_);
  published_ = {std::move(version), std::move(snapshot)};
}

LiveDirector::Published LiveDirector::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

StatsReport LiveDirector::stats() {
  StatsReport out;
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).verdicts;
    WorkerStats worker{
        parts_.workers.lcore(i),     counted.packets_in.get(),  counted.bytes_in.get(),
        counted.bursts.get(),        counted.polls_idle.get(),  counted.flows_created.get(),
        counted.flows_evicted.get(), counted.host_frames.get(), counted.host_frames_lost.get()};
    out.packets_in += worker.packets_in;
    out.bytes_in += worker.bytes_in;
    for (std::size_t verdict = 0; verdict < verdict_count; ++verdict) {
      out.packets[verdict] += counted.packets[verdict].get();
      out.bytes[verdict] += counted.bytes[verdict].get();
    }
    out.workers.push_back(worker);
  }
  const Published published = this->published();
  if (published.version == nullptr) return out;
  for (const auto& service : published.snapshot->services) out.services.push_back(service_stats(service));
  for (const auto& built : published.snapshot->pools) {
    const Seating& seating = *published.version->seatings.at(built->name);
    const Pool& pool = *published.version->site.find_pool(built->name);
    for (const auto& backend : pool.backends)
      out.backends.push_back(backend_stats(pool, backend, *backend_id(seating, *built, backend.name)));
  }
  return out;
}

BackendStats LiveDirector::backend_stats(const Pool& pool, const Backend& backend, BackendId id) const {
  BackendStats out{pool.name, backend.name};
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).backend(id);
    out.packets += counted.packets.get();
    out.bytes += counted.bytes.get();
    out.new_flows += counted.new_flows.get();
  }
  // Counting reads the whole flow tables: only where somebody waits for the answer.
  if (backend.state == BackendState::draining) out.flows_left = count_flows(pool, id);
  return out;
}

ServiceStats LiveDirector::service_stats(const SnapshotService& service) const {
  ServiceStats out{service.name};
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).service(service.id);
    out.packets += counted.packets.get();
    out.bytes += counted.bytes.get();
    out.new_flows += counted.new_flows.get();
    out.unmatched += counted.unmatched.get();
  }
  return out;
}

Result<void> LiveDirector::set_health(const std::string& pool, const std::string& backend,
                                      std::optional<Health> value) {
  return parts_.health.set_override(pool, backend, value);
}

std::vector<PortReport> LiveDirector::ports() {
  std::vector<PortReport> out;
  for (std::size_t i = 0; i < parts_.ports.all().size(); ++i) {
    const auto& port = parts_.ports.all()[i];
    const auto& view = parts_.ports.table().ports[i];
    const auto traffic = port.traffic();
    PortReport report;
    report.name = port.config().name;
    report.device = port.config().device;
    report.driver = port.driver();
    report.kernel_interface = port.kernel_interface();
    report.mac = view.mac;
    report.link_up = view.link_up.load(std::memory_order_relaxed);
    report.mtu = view.mtu.load(std::memory_order_relaxed);
    report.queues = static_cast<std::uint16_t>(port.queues().size());
    report.socket = port.socket();
    report.rx_packets = traffic.rx_packets;
    report.tx_packets = traffic.tx_packets;
    report.rx_missed = traffic.rx_missed;
    report.rx_errors = traffic.rx_errors;
    report.tx_errors = traffic.tx_errors;
    if (port.steering() != nullptr) {
      const auto steered = port.steering()->counts();
      report.steered = SteeredPackets{steered.to_socket, steered.to_kernel, steered.no_socket};
    }
    out.push_back(std::move(report));
  }
  return out;
}

FlowsLeft LiveDirector::flows_left(const std::string& pool, const std::string& backend) {
  const Published published = this->published();
  const Pool* found = published.version == nullptr ? nullptr : published.version->site.find_pool(pool);
  if (found == nullptr) return {};
  const auto id = backend_id(*published.version, *published.snapshot, pool, backend);
  return id ? count_flows(*found, *id) : FlowsLeft{};
}

FlowsLeft LiveDirector::count_flows(const Pool& pool, BackendId backend) const {
  FlowsLeft out;
  const auto now_ms = parts_.workers.clock().now_ms();
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto counted = parts_.workers.flows(i).count(backend, now_ms, pool.timeouts.closing_ms);
    out.open += counted.open;
    out.closing += counted.ending;
  }
  return out;
}

std::chrono::seconds LiveDirector::uptime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
}

std::size_t LiveDirector::memory_bytes() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace guideway
