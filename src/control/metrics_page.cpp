// The status page of metrics.h: for a person with a browser or curl; `guideway status` says more.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "control/metrics.h"
#include "state/duration.h"

namespace guideway {
namespace {

std::string_view word_on_page(Health health) {
  return health == Health::up ? "up" : health == Health::down ? "DOWN" : "unknown";
}

std::string_view word_on_page(BackendState state) {
  return state == BackendState::active ? "active" : state == BackendState::draining ? "draining" : "disabled";
}

}  // namespace

std::string status_page(const MetricsView& view) {
  std::string page;
  const auto line = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(page), format, std::forward<Args>(args)...);
    page.push_back('\n');
  };
  line("guidewayd {}, epoch {}, site digest {:#018x}, up {}", GUIDEWAY_VERSION, to_index(view.epoch),
       view.publish.site_digest, rough_duration(view.uptime));
  line("metrics: /metrics");

  line("\nports");
  for (const auto& port : view.ports)
    line("  {:<16} {:<24} link {:<5} rx {} tx {} missed {}", port.name, port.device,
         port.link_up ? "up" : "DOWN", port.rx_packets, port.tx_packets, port.rx_missed);

  line("\nbackends");
  std::map<std::pair<std::string, std::string>, const HealthReport*> health;
  for (const auto& report : view.health) health[{report.pool, report.backend}] = &report;
  for (const auto& backend : view.backends) {
    const auto found = health.find({backend.pool, backend.backend});
    const HealthReport* report = found == health.end() ? nullptr : found->second;
    line("  {:<32} {:<9} weight {:<5} {}{}{}", backend.pool + "/" + backend.backend,
         word_on_page(backend.state), backend.weight,
         word_on_page(report == nullptr ? Health::unknown : report->verdict),
         report != nullptr && report->override_value ? " (set by hand)" : "",
         report == nullptr || report->last_error.empty() ? "" : ": " + report->last_error);
  }

  bool headed = false;
  for (const auto& hop : view.next_hops) {
    if (hop.next_hop.state == NextHop::State::resolved) continue;
    if (!std::exchange(headed, true)) line("\nnext hops that cannot be sent to");
    line("  {:<32} {}", hop.address, hop.via);
  }

  line("\npackets");
  line("  {:<32} {}", "in", view.stats.packets_in);
  for (std::size_t i = 0; i < verdict_count; ++i)
    if (view.stats.packets[i] != 0)
      line("  {:<32} {}",
           fmt::format("{}{}", is_drop(static_cast<Verdict>(i)) ? "drop: " : "", verdict_names[i]),
           view.stats.packets[i]);
  return page;
}

}  // namespace guideway
