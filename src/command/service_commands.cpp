#include "command/service_commands.h"

#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

Result<json> list_services(Context& context, const Arguments&) {
  json services = json::array();
  for (const Service& service : context.version().site.services) services.push_back(service_json(service));
  return json{{"services", std::move(services)}};
}

Result<json> show_service(Context& context, const Arguments& arguments) {
  const auto service = service_of(context.version().site, arguments.at("SERVICE"));
  if (!service) return tl::unexpected<Error>(service.error());
  json out = service_json(**service);
  if (context.live() == nullptr) return out;
  for (const ServiceStats& stats : context.live()->stats().services) {
    if (stats.service != (*service)->name) continue;
    out["traffic"] = {{"packets", stats.packets},
                      {"bytes", stats.bytes},
                      {"new_flows", stats.new_flows},
                      {"unmatched", stats.unmatched}};
  }
  return out;
}

Result<json> add_service(Context& context, const Arguments& arguments) {
  const auto prefix = prefix_value(arguments.at("ADDRESS"));
  if (!prefix) return tl::unexpected<Error>(prefix.error());
  const auto ports = ports_value(arguments.find("ports").value_or("any"));
  if (!ports) return tl::unexpected<Error>(ports.error());
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  Service service;
  service.name = arguments.at("NAME");
  service.address = prefix->address;
  service.prefix_length = prefix->length;
  service.protocol = arguments.find("protocol") == "udp" ? protocol_udp : protocol_tcp;
  service.ports = *ports;
  service.pool = (*pool)->name;
  if (const auto text = arguments.find("unmatched")) service.unmatched = *find_word<Unmatched>(*text);
  if (const auto text = arguments.find("ping")) service.ping = *find_word<Ping>(*text);
  return carry_out(context, arguments, AddService{std::move(service)});
}

Result<json> remove_service(Context& context, const Arguments& arguments) {
  const auto service = service_of(context.version().site, arguments.at("SERVICE"));
  if (!service) return tl::unexpected<Error>(service.error());
  return carry_out(context, arguments, RemoveService{(*service)->name});
}

std::string render_services(const json& answer, bool color) {
  TextTable table({"SERVICE", "ADDRESS", "PROTOCOL", "PORTS", "POOL"});
  for (const json& service : answer.at("services")) {
    table.add({service.at("name").get<std::string>(), service.at("address").get<std::string>(),
               service.at("protocol").get<std::string>(), service.at("ports").get<std::string>(),
               service.at("pool").get<std::string>()});
  }
  if (table.empty()) return "no services; add one with `guideway service add NAME ADDRESS POOL --ports 80`\n";
  return table.text(color);
}

std::string render_service(const json& answer, bool color) {
  TextList list;
  for (const char* key : {"name", "address", "protocol", "ports", "pool", "unmatched", "ping"}) {
    list.add(key, answer.at(key).get<std::string>());
  }
  if (answer.contains("traffic")) {
    const json& traffic = answer.at("traffic");
    const auto add = [&](const char* label, const char* key) {
      list.add(label, grouped(traffic.at(key).get<std::uint64_t>()));
    };
    add("packets", "packets");
    add("bytes", "bytes");
    add("new flows", "new_flows");
    add("to no such port", "unmatched");
  }
  return list.text(color);
}

}  // namespace guideway
