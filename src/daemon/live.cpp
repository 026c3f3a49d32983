#include "daemon/live.h"

#include <unistd.h>

#include <fstream>

#include "state/snapshot_names.h"

namespace guideway {
namespace {

std::chrono::milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

void LiveDirector::site_changed(std::shared_ptr<const SiteVersion> version,
                                std::shared_ptr<const Snapshot> snapshot) {
  flow_tables_.site_changed(version, snapshot);
  const std::lock_guard lock(mutex_);
  const bool same = published_.version != nullptr &&
                    same_backends(published_.version->site, version->site, [](const Pool& a, const Pool& b) {
                      return a.flow_table == b.flow_table && a.timeouts == b.timeouts;
                    });
  if (!same) witness_.follow(version->site, now());
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
    WorkerStats worker{parts_.workers.lcore(i),
                       counted.packets_in.get(),
                       counted.bytes_in.get(),
                       counted.bursts.get(),
                       counted.polls_idle.get(),
                       counted.flows_created.get(),
                       counted.flows_evicted.get(),
                       counted.flows_refused.get(),
                       counted.strangers.get(),
                       counted.host_frames.get(),
                       counted.host_frames_lost.get(),
                       parts_.workers.flows(i).entries(),
                       parts_.workers.flows(i).capacity()};
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
  if (backend.state == BackendState::draining) out.flows_left = count_flows(pool, backend, id);
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
      report.steered =
          SteeredPackets{steered.to_socket, steered.to_kernel, steered.no_socket, steered.services_left_out};
    }
    out.push_back(std::move(report));
  }
  return out;
}

template <class Answer>
Answer LiveDirector::of_backend(const std::string& pool, const std::string& backend,
                                Answer (LiveDirector::*ask)(const Pool&, const Backend&, BackendId)
                                    const) const {
  const Published published = this->published();
  const Pool* found = published.version == nullptr ? nullptr : published.version->site.find_pool(pool);
  const Backend* member = found == nullptr ? nullptr : found->find_backend(backend);
  if (member == nullptr) return {};
  const auto id = backend_id(*published.version, *published.snapshot, pool, backend);
  return id ? (this->*ask)(*found, *member, *id) : Answer{};
}

FlowsLeft LiveDirector::flows_left(const std::string& pool, const std::string& backend) {
  return of_backend(pool, backend, &LiveDirector::count_flows);
}

std::optional<UnseenFlows> LiveDirector::unseen_flows(const std::string& pool, const std::string& backend) {
  return of_backend(pool, backend, &LiveDirector::unseen_of);
}

FlowsLeft LiveDirector::count_flows(const Pool& pool, const Backend& backend, BackendId id) const {
  FlowsLeft out;
  out.unseen = unseen_of(pool, backend, id);
  const auto now_ms = parts_.workers.clock().now_ms();
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto counted = parts_.workers.flows(i).count(id, now_ms, pool.timeouts.closing_ms);
    out.open += counted.open;
    out.closing += counted.ending;
  }
  return out;
}

std::optional<UnseenFlows> LiveDirector::unseen_of(const Pool& pool, const Backend& backend,
                                                   BackendId id) const {
  if (!pool.flow_table) return std::nullopt;
  FlowMarks marks;
  const auto now_ms = parts_.workers.clock().now_ms();
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) marks.add(parts_.workers.counters(i), id, now_ms);
  const std::lock_guard lock(mutex_);
  return witness_.unseen(pool, backend, now(), marks);
}

std::chrono::seconds LiveDirector::uptime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
}

MemoryReport LiveDirector::memory() {
  MemoryReport out;
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  out.resident_bytes = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    out.flows += parts_.workers.flows(i).capacity();
    out.flow_bytes += parts_.workers.flows(i).memory_bytes();
  }
  const Published published = this->published();
  if (published.snapshot == nullptr) return out;
  for (const auto& pool : published.snapshot->pools) {
    out.rows += pool->rows.size();
    out.row_bytes += pool->rows.size() * sizeof(Row);
  }
  return out;
}

}  // namespace guideway
