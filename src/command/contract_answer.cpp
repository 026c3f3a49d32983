#include "command/contract_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "guideway/flow.h"
#include "guideway/placement.h"
#include "guideway/rows.h"
#include "tables/log2_table.h"
#include "tables/quota.h"
#include "tables/rendezvous.h"
#include "tables/xxh3.h"

namespace guideway {
namespace {

std::string hex(std::uint64_t value) { return fmt::format("{:#018x}", value); }

std::uint64_t seed_of(const Json& input) {
  return std::stoull(input.at("seed").get<std::string>(), nullptr, 16);
}

BackendState state_named(const std::string& name) {
  static const std::map<std::string, BackendState> states{{"active", BackendState::active},
                                                          {"draining", BackendState::draining},
                                                          {"disabled", BackendState::disabled}};
  return states.at(name);
}

Health health_named(const std::string& name) {
  static const std::map<std::string, Health> healths{{"up", Health::up}, {"down", Health::down}};
  return healths.at(name);
}

std::vector<Member> members_of(const Json& list) {
  std::vector<Member> members;
  for (const Json& entry : list) members.push_back({entry.at(0), entry.at(1)});
  return members;
}

Json answer_flow(const Json& input) {
  const FlowTuple tuple{.source = IpAddress::parse(input.at("source").get<std::string>()).value(),
                        .destination = IpAddress::parse(input.at("destination").get<std::string>()).value(),
                        .source_port = input.at("source_port"),
                        .destination_port = input.at("destination_port"),
                        .protocol = input.at("protocol")};
  const Affinity affinity = input.at("affinity") == "client" ? Affinity::client : Affinity::flow;
  const FlowKey key = flow_key(tuple);
  std::string key_hex;
  for (std::size_t i = 0; i < key.size; ++i) key_hex += fmt::format("{:02x}", key.bytes[i]);
  const std::uint64_t row = row_hash(tuple, seed_of(input), affinity);
  return {{"key", key_hex},
          {"flow_hash", hex(flow_hash(key, seed_of(input)))},
          {"row_hash", hex(row)},
          {"row", row % input.at("rows").get<std::uint64_t>()}};
}

// Member indices as numbers, none as -1; or, for long tables, XXH3 (seed 0) over them as 16-bit little-endian
// numbers, none as 0xffff.
Json indices(const std::vector<MemberIndex>& list, bool digest_only) {
  std::string bytes;
  Json out = Json::array();
  for (const MemberIndex member : list) {
    bytes += static_cast<char>(member & 0xff);
    bytes += static_cast<char>(member >> 8);
    if (!digest_only) out.push_back(member == no_member ? -1 : int{member});
  }
  return digest_only ? Json(hex(xxh3(bytes, 0))) : out;
}

// Plays the deals of `input`; `each` sees the seating after each.
template <class Each>
Seating play_deals(const Json& input, Each each) {
  Seating seating = empty_seating(seed_of(input), input.at("rows"));
  for (const Json& step : input.at("deals")) {
    std::vector<BackendState> states;
    for (const Member& member : seating.members) {
      states.push_back(state_named(step.at("states_before").value(member.name, "active")));
    }
    const DealMode mode = step.at("mode") == "scratch" ? DealMode::scratch : DealMode::stable;
    auto dealt = deal(seating, states, members_of(step.at("members")), mode);
    if (!dealt) throw std::runtime_error(dealt.error().text());
    seating = std::move(*dealt);
    each(seating);
  }
  return seating;
}

Json answer_deal(const Json& input) {
  const bool digest_only = input.value("digest_only", false);
  Json deals = Json::array();
  play_deals(input, [&](const Seating& seating) {
    deals.push_back({{"quota", quotas(seating.members, seating.row_count)},
                     {"holder", indices(seating.holder, digest_only)},
                     {"former", indices(seating.former, digest_only)}});
  });
  return {{"deals", deals}};
}

Json answer_ranking(const Json& input) {
  Seating seating = empty_seating(seed_of(input), rows_default);
  seating.members = members_of(input.at("members"));
  const Rendezvous everybody(seating.members, seating.seed);
  Json rankings = Json::array();
  for (const std::uint32_t row : input.at("rows_asked")) {
    Json ranked = Json::array();
    for (const MemberIndex member : ranking(seating, row)) {
      const Standing standing = everybody.standing(member, row);
      ranked.push_back({seating.members[member].name, hex(standing.draw), standing.distance});
    }
    rankings.push_back(ranked);
  }
  return {{"rankings", rankings}};
}

Json answer_rows(const Json& input) {
  const Seating seating = play_deals(input, [](const Seating&) {});
  std::vector<MemberStatus> status;
  std::vector<BackendState> states;
  for (const Member& member : seating.members) {
    const Json entry = input.at("status").value(member.name, Json{"active", "up"});
    states.push_back(state_named(entry.at(0)));
    status.push_back({.state = states.back(), .health = health_named(entry.at(1))});
  }
  const HopRules rules{
      .hops = input.at("hops"),
      .panic = input.at("panic"),
      .none_healthy = input.at("none_healthy") == "drop" ? NoneHealthy::drop : NoneHealthy::all};

  const std::vector<Row> rows = build_rows(seating, status, rules);
  Json names = Json::array();
  for (const Row& row : rows) {
    Json hops = Json::array();
    for (const MemberIndex hop : row.hop) {
      if (hop != no_member) hops.push_back(seating.members[hop].name);
    }
    names.push_back(hops);
  }
  Json out{{"rows_taking_new_flows",
            std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.takes_new == 1; })},
           {"rows_digest", hex(rows_digest(rows, seating.members))},
           {"site_digest", hex(site_digest(seating, states, rules))}};
  if (!input.value("digest_only", false)) out["rows"] = names;
  return out;
}

}  // namespace

Json contract_answer(const std::string& kind, const Json& input) {
  if (kind == "flow") return answer_flow(input);
  if (kind == "log2") return {{"table", log2_table}};
  if (kind == "deal") return answer_deal(input);
  if (kind == "ranking") return answer_ranking(input);
  if (kind == "rows") return answer_rows(input);
  throw std::invalid_argument("no such kind of question: " + kind);
}

}  // namespace guideway
