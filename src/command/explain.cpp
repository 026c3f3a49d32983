#include "command/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "command/pool_alarm.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "net/wrapping.h"
#include "state/service_cover.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

// One pool's row with what is needed to say why it looks so.
struct RowView {
  const Pool& pool;
  const Seating& seating;
  const HealthView& health;
  MemberIndex holder = no_member, former = no_member;
  Row row;

  [[nodiscard]] const Backend* backend(MemberIndex member) const {
    if (member >= seating.members.size()) return nullptr;
    const std::string& name = seating.members[member].name;
    const auto found = std::find_if(pool.backends.begin(), pool.backends.end(),
                                    [&](const Backend& candidate) { return candidate.name == name; });
    return found == pool.backends.end() ? nullptr : &*found;
  }
  [[nodiscard]] Health health_at(MemberIndex member) const {
    return member < seating.members.size() ? health_of(health, pool.name, seating.members[member].name)
                                           : Health::unknown;
  }
};

std::string endpoint_text(const IpAddress& address, std::uint16_t port) {
  return address.family == Family::ipv4 ? fmt::format("{}:{}", address.text(), port)
                                        : fmt::format("[{}]:{}", address.text(), port);
}

std::string hex_bytes(std::span<const std::uint8_t> bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

Result<FlowTuple> tuple_of(const Arguments& arguments) {
  const auto source = endpoint_value(arguments.at("SOURCE"));
  if (!source) return tl::unexpected<Error>(source.error());
  const auto destination = endpoint_value(arguments.at("DESTINATION"));
  if (!destination) return tl::unexpected<Error>(destination.error());
  if (source->address.family != destination->address.family) {
    return fail(ErrorKind::usage, "source and destination are of two address families", "TUPLE",
                "write two IPv4 or two IPv6 addresses");
  }
  FlowTuple tuple;
  tuple.source = source->address;
  tuple.destination = destination->address;
  tuple.source_port = source->port;
  tuple.destination_port = destination->port;
  tuple.protocol = arguments.at("PROTOCOL") == "udp" ? protocol_udp : protocol_tcp;
  return tuple;
}

ServiceMatch match_of(const Site& site, const FlowTuple& tuple) {
  return service_table(site).find(tuple.destination.family, tuple.destination.bytes.data(), tuple.protocol,
                                  tuple.destination_port);
}

json member_json(const RowView& view, MemberIndex member) {
  const Backend* backend = view.backend(member);
  if (backend == nullptr) return nullptr;
  return {{"backend", backend->name},
          {"address", backend->address.text()},
          {"state", word(backend->state)},
          {"health", word(view.health_at(member))}};
}

std::string unfit(const RowView& view, MemberIndex member) {
  const Backend* backend = view.backend(member);
  if (backend == nullptr) return "is gone";
  if (backend->state != BackendState::active) return fmt::format("is {}", word(backend->state));
  return fmt::format("is {}", word(view.health_at(member)));
}

std::string why_first(const RowView& view, MemberIndex member) {
  if (member == view.holder) return "holds the seat and takes new flows";
  const Backend* holder = view.backend(view.holder);
  const std::string away = holder == nullptr
                               ? "nobody holds the seat"
                               : fmt::format("the seat holder {} {}", holder->name, unfit(view, view.holder));
  if (member == view.former) return away + "; it served the row before and takes new flows";
  return away + "; it is the stand-in, the best in the row's ranking that takes new flows";
}

std::string why_later(const RowView& view, MemberIndex member) {
  std::string out = member == view.holder ? "holds the seat; its established flows are still there"
                    : member == view.former
                        ? "served the row before the last deal; flows from then may be there"
                        : "next in the row's ranking; flows went there while another was away";
  if (view.health_at(member) == Health::down) out += "; down, so it stands last";
  return out;
}

json hops_json(const RowView& view) {
  json out = json::array();
  for (std::size_t i = 0; i < view.row.hop.size(); ++i) {
    json hop = member_json(view, view.row.hop[i]);
    if (hop.is_null()) continue;
    const bool first = i == 0 && view.row.takes_new != 0;
    hop["why"] = first ? why_first(view, view.row.hop[i]) : why_later(view, view.row.hop[i]);
    out.push_back(std::move(hop));
  }
  return out;
}

// The outer header before the smallest packet of the flow.
json outer_json(Context& context, const RowView& view, const FlowTuple& tuple, std::uint64_t hash) {
  std::vector<const Backend*> hops;
  for (const MemberIndex member : view.row.hop) {
    if (const Backend* backend = view.backend(member)) hops.push_back(backend);
  }
  if (hops.empty() || view.pool.encapsulation == Encapsulation::l2) return nullptr;
  const Family family = hops.front()->address.family;
  const auto& source =
      family == Family::ipv4 ? context.director().source_ipv4 : context.director().source_ipv6;
  if (!source) return nullptr;
  net::Wrapping wrapping;
  wrapping.encapsulation = view.pool.encapsulation;
  net::GueOuter& outer = wrapping.outer;
  outer.ip = {.family = family,
              .source = source->bytes.data(),
              .destination = hops.front()->address.bytes.data(),
              .flow_hash = hash};
  outer.further_count = hops.size() - 1;
  outer.ports = net::gue_ports(view.pool.gue_port);
  outer.inner_family = tuple.source.family;
  outer.inner_length =
      net::ip_size(tuple.source.family) + (tuple.protocol == protocol_udp ? net::udp_size : net::tcp_size);
  std::array<std::uint8_t, net::gue_outer_size(Family::ipv6, net::gue_hops_further_max)> bytes{};
  net::write_wrapping(bytes.data(), wrapping,
                      [&](std::size_t n) { return hops[1 + n]->address.bytes.data(); });
  const std::size_t size = net::wrapping_size(wrapping.encapsulation, family, hops.size());
  json out{{"inner_length", outer.inner_length}, {"bytes", hex_bytes(std::span(bytes).first(size))}};
  if (wrapping.encapsulation == Encapsulation::gue) {
    out["source"] = endpoint_text(*source, net::gue_source_port(hash));
    out["destination"] = endpoint_text(hops.front()->address, view.pool.gue_port);
  } else {
    out["source"] = source->text();
    out["destination"] = hops.front()->address.text();
  }
  return out;
}

json flow_json(const FlowTuple& tuple) {
  return {{"protocol", protocol_word(tuple.protocol)},
          {"source", endpoint_text(tuple.source, tuple.source_port)},
          {"destination", endpoint_text(tuple.destination, tuple.destination_port)}};
}

std::string no_service_sentence(const ServiceMatch& match) {
  if (match.kind == ServiceMatch::Kind::not_ours) {
    return "the destination is no service address: the packet goes to the kernel";
  }
  return match.unmatched_drop
             ? "the address is a service's, the protocol and port are not: dropped (unmatched)"
             : "the address is a service's, the protocol and port are not: to the kernel";
}

std::string verdict_sentence(const RowView& view) {
  if (view.row.takes_new != 0) {
    return fmt::format("a new flow goes to {}", view.backend(view.row.hop[0])->name);
  }
  return view.row.hop[0] == no_member
             ? "nobody takes new flows and no hop is left: dropped"
             : "nobody takes new flows: SYN and UDP are dropped, other TCP goes to the hops";
}

std::string backend_text(const json& member) {
  return fmt::format("{} ({}, {}, {})", member.at("backend").get<std::string>(),
                     member.at("address").get<std::string>(), member.at("state").get<std::string>(),
                     member.at("health").get<std::string>());
}

// "4500 0048 …", sixteen bytes a line.
std::string hex_lines(const std::string& hex, std::size_t indent) {
  std::string out;
  for (std::size_t at = 0; at < hex.size(); at += 4) {
    if (at != 0) out += at % 32 == 0 ? "\n" + std::string(indent, ' ') : " ";
    out += hex.substr(at, 4);
  }
  return out;
}

void add_row(TextList& list, const json& answer) {
  list.add("key", answer.at("key").get<std::string>());
  list.add("hash", answer.at("hash").get<std::string>());
  list.add("row", fmt::format("{} of {}", grouped(answer.at("row").get<std::uint64_t>()),
                              grouped(answer.at("rows").get<std::uint64_t>())));
  const json& seat = answer.at("seat");
  const json& former = answer.at("former");
  list.add("seat", seat.is_null() ? "nobody" : backend_text(seat));
  list.add("former", former.is_null() ? "nobody" : backend_text(former));
  int number = 1;
  for (const json& hop : answer.at("hops")) {
    list.add(fmt::format("hop {}", number++), backend_text(hop) + ": " + hop.at("why").get<std::string>());
  }
  const json& outer = answer.at("outer");
  if (outer.is_null()) return;
  list.add("outer",
           outer.at("source").get<std::string>() + " -> " + outer.at("destination").get<std::string>());
  list.add("bytes", hex_lines(outer.at("bytes").get<std::string>(), std::size_t{9}));
}

}  // namespace

Result<json> explain_flow(Context& context, const Arguments& arguments) {
  const auto tuple = tuple_of(arguments);
  if (!tuple) return tl::unexpected<Error>(tuple.error());
  const SiteVersion& version = context.version();
  json out{{"flow", flow_json(*tuple)}, {"epoch", static_cast<std::uint64_t>(version.epoch)}};
  const ServiceMatch match = match_of(version.site, *tuple);
  if (match.kind != ServiceMatch::Kind::service) {
    out["service"] = nullptr;
    out["verdict"] = no_service_sentence(match);
    return out;
  }
  const Service& service = version.site.services[match.service];
  const auto pool = pool_of(version.site, service.pool);
  if (!pool) return tl::unexpected<Error>(pool.error());
  const Seating& seating = *version.seatings.at(service.pool);
  const HealthView& health = context.health();
  const std::uint64_t seed = version.site.seed_of(**pool);
  const std::uint64_t hash = flow_hash(*tuple, seed);
  const auto row = static_cast<std::uint32_t>(row_hash(*tuple, seed, (*pool)->affinity) % (*pool)->rows);
  const RowView view{**pool,
                     seating,
                     health,
                     seating.holder[row],
                     seating.former[row],
                     (*rows_of(version, **pool, health, context.recent_rows()))[row]};
  const FlowKey key = flow_key(*tuple);
  out["service"] = service.name;
  out["pool"] = service.pool;
  out["key"] = hex_bytes(std::span(key.bytes).first(key.size));
  out["hash"] = hex64(hash);
  out["row"] = row;
  out["rows"] = (*pool)->rows;
  out["seat"] = member_json(view, view.holder);
  out["former"] = member_json(view, view.former);
  out["hops"] = hops_json(view);
  out["takes_new_flows"] = view.row.takes_new != 0;
  out["verdict"] = verdict_sentence(view);
  out["flow_table"] = (*pool)->flow_table;
  out["assumed_source"] = context.live() == nullptr && context.director().ports.empty();
  out["alarms"] = json::array();
  if (auto alarm = alarm_of(context, **pool)) out["alarms"].push_back(std::move(*alarm));
  out["outer"] = outer_json(context, view, *tuple, hash);
  return out;
}

std::string render_explanation(const json& answer, bool color) {
  TextList list;
  const json& flow = answer.at("flow");
  list.add("flow",
           fmt::format("{} {} -> {}", flow.at("protocol").get<std::string>(),
                       flow.at("source").get<std::string>(), flow.at("destination").get<std::string>()));
  if (answer.at("service").is_null()) {
    list.add("verdict", answer.at("verdict").get<std::string>());
    return list.text(color);
  }
  list.add("service", fmt::format("{} (pool {})", answer.at("service").get<std::string>(),
                                  answer.at("pool").get<std::string>()));
  add_row(list, answer);
  list.add("verdict", answer.at("verdict").get<std::string>());
  std::string out = list.text(color) + alarm_lines(answer, color);
  if (answer.at("assumed_source").get<bool>())
    out += "the outer source stands for a director's own; name one with --director FILE\n";
  if (answer.at("flow_table").get<bool>()) {
    out += "an established flow stays with the backend of its flow-table entry, with these hops behind it\n";
  }
  return out;
}

}  // namespace guideway
