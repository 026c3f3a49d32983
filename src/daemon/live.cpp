#include "daemon/live.h"

#include <unistd.h>

#include <fstream>

namespace guideway {

StatsReport LiveDirector::stats() {
  StatsReport out;
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).verdicts;
    WorkerStats worker{parts_.workers.lcore(i),    counted.packets_in.get(), counted.bytes_in.get(),
                       counted.bursts.get(),       counted.polls_idle.get(), counted.flows_created.get(),
                       counted.flows_evicted.get()};
    out.packets_in += worker.packets_in;
    out.bytes_in += worker.bytes_in;
    for (std::size_t verdict = 0; verdict < verdict_count; ++verdict) {
      out.packets[verdict] += counted.packets[verdict].get();
      out.bytes[verdict] += counted.bytes[verdict].get();
    }
    out.workers.push_back(worker);
  }
  for (const auto& service : site_.services) out.services.push_back(service_stats(service.name));
  for (const auto& pool : site_.pools)
    for (const auto& backend : pool.backends) out.backends.push_back(backend_stats(pool.name, backend));
  return out;
}

BackendStats LiveDirector::backend_stats(const std::string& pool, const Backend& backend) {
  BackendStats out{pool, backend.name};
  const auto id = parts_.builder.backend_id(pool, backend.name);
  if (!id) return out;
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).backend(*id);
    out.packets += counted.packets.get();
    out.bytes += counted.bytes.get();
    out.new_flows += counted.new_flows.get();
  }
  // Counting reads the whole flow tables: only where somebody waits for the answer.
  if (backend.state == BackendState::draining) out.live_flows = live_flows(pool, backend.name);
  return out;
}

ServiceStats LiveDirector::service_stats(const std::string& service) {
  ServiceStats out{service};
  const auto id = parts_.builder.service_id(service);
  if (!id) return out;
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) {
    const auto& counted = parts_.workers.counters(i).service(*id);
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

std::uint64_t LiveDirector::live_flows(const std::string& pool, const std::string& backend) {
  const auto id = parts_.builder.backend_id(pool, backend);
  if (!id) return 0;
  std::uint64_t sum = 0;
  const auto now_ms = parts_.workers.clock().now_ms();
  for (std::size_t i = 0; i < parts_.workers.size(); ++i) sum += parts_.workers.flows(i).count(*id, now_ms);
  return sum;
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
