#include "snapshot/service_table.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

namespace guideway {
namespace {

enum class Width : std::uint8_t { port, range, any };  // the narrower one wins

Width width_of(const PortRange& range, bool any) {
  if (any) return Width::any;
  return range.first == range.last ? Width::port : Width::range;
}

struct Claim {
  PortRange range;
  Width width = Width::port;
  std::size_t order = 0;  // of the rule
  std::uint16_t service = 0, pool = 0;
};

std::vector<PortRange> ranges_of(const ServiceRule& rule) {
  return rule.ports.empty() ? std::vector<PortRange>{{0, 65535}} : rule.ports;
}

std::size_t table_size(std::size_t entries) { return std::bit_ceil(entries * 2 + 2); }

std::uint64_t top_bits(unsigned count) { return count == 0 ? 0 : ~std::uint64_t{0} << (64 - count); }

}  // namespace

ServiceTable::ServiceTable() {
  index_prefixes();
  index_exact();
}

ServiceTable::Key ServiceTable::masked(Key key, Family family, std::uint8_t length) {
  if (family == Family::ipv4) {
    key.low &= top_bits(32U + length);
  } else {
    key.high &= top_bits(std::min<unsigned>(length, 64));
    key.low &= top_bits(length > 64 ? length - 64U : 0);
  }
  key.tail |= length;
  return key;
}

ServiceTable ServiceTable::build(std::span<const ServiceRule> rules) {
  ServiceTable table;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, std::size_t> known;
  std::map<std::pair<std::size_t, std::uint8_t>, std::vector<Claim>> claims;  // by prefix and protocol
  for (std::size_t order = 0; order < rules.size(); ++order) {
    const ServiceRule& rule = rules[order];
    const Family family = rule.address.family;
    const Key key = masked(address_key(family, rule.address.bytes.data()), family, rule.prefix_length);
    const auto [at, is_new] = known.try_emplace({key.high, key.low, key.tail}, table.prefixes_.size());
    if (is_new) {
      const ServiceMatch match{ServiceMatch::Kind::no_such_port, rule.unmatched_drop, rule.ping, rule.service,
                               rule.pool};
      table.prefixes_.push_back({key, match, {}});
      auto& lengths = family == Family::ipv4 ? table.lengths_ipv4_ : table.lengths_ipv6_;
      if (std::find(lengths.begin(), lengths.end(), rule.prefix_length) == lengths.end())
        lengths.push_back(rule.prefix_length);
    }
    for (const PortRange& range : ranges_of(rule))
      claims[{at->second, rule.protocol}].push_back(
          {range, width_of(range, rule.ports.empty()), order, rule.service, rule.pool});
  }
  std::ranges::sort(table.lengths_ipv4_, std::greater{});
  std::ranges::sort(table.lengths_ipv6_, std::greater{});

  // Between two neighbouring borders of claims one claim is the best: that is a segment.
  for (auto& [place, of_protocol] : claims) {
    std::ranges::sort(of_protocol, {}, [](const Claim& c) { return std::tuple(c.width, c.order); });
    std::vector<std::pair<std::uint32_t, std::size_t>> borders;  // and whose they are
    for (std::size_t claim = 0; claim < of_protocol.size(); ++claim) {
      borders.emplace_back(of_protocol[claim].range.first, claim);
      borders.emplace_back(of_protocol[claim].range.last + 1U, claim);
    }
    std::ranges::sort(borders);
    Ports ports{place.second, {}};
    std::set<std::size_t> open;  // claims on what follows the border, the best one first
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const auto [border, claim] = borders[i];
      if (open.erase(claim) == 0) open.insert(claim);
      if (borders[i + 1].first == border || open.empty()) continue;
      const Claim& best = of_protocol[*open.begin()];
      const auto first = static_cast<std::uint16_t>(border);
      const auto last = static_cast<std::uint16_t>(borders[i + 1].first - 1);
      if (!ports.segments.empty() && ports.segments.back().service == best.service &&
          ports.segments.back().last + 1 == first) {
        ports.segments.back().last = last;
      } else {
        ports.segments.push_back({first, last, best.service, best.pool});
      }
    }
    table.prefixes_[place.first].protocols.push_back(std::move(ports));
  }
  table.index_prefixes();
  table.index_exact();
  return table;
}

void ServiceTable::index_prefixes() {
  prefix_slots_.assign(table_size(prefixes_.size()), {});
  prefix_mask_ = prefix_slots_.size() - 1;
  for (std::size_t i = 0; i < prefixes_.size(); ++i) {
    std::size_t at = hash(prefixes_[i].key) & prefix_mask_;
    while (prefix_slots_[at].key.tail != 0) at = (at + 1) & prefix_mask_;
    prefix_slots_[at] = {prefixes_[i].key, static_cast<std::uint32_t>(i)};
  }
}

// Single addresses with single ports; no longer prefix can take them from their service.
void ServiceTable::index_exact() {
  std::vector<Slot> slots;
  std::vector<SlotIpv4> slots_ipv4;
  for (const Prefix& prefix : prefixes_) {
    const bool ipv4 = prefix.key.tail >> 24 == 4;
    const std::uint32_t length = prefix.key.tail & 0xff;
    if (length != (ipv4 ? 32U : 128U)) continue;
    for (const Ports& ports : prefix.protocols) {
      for (const Segment& segment : ports.segments) {
        // A short range is as good as its ports.
        if (segment.last - segment.first >= 64) continue;
        ServiceMatch match = prefix.address_match;
        match.kind = ServiceMatch::Kind::service;
        match.service = segment.service;
        match.pool = segment.pool;
        for (std::uint32_t port = segment.first; port <= segment.last; ++port) {
          const std::uint32_t door = door_of(ports.protocol, static_cast<std::uint16_t>(port));
          if (ipv4) {
            const auto address = __builtin_bswap32(static_cast<std::uint32_t>(prefix.key.low));
            slots_ipv4.push_back({std::uint64_t{door} << 32 | address, match});
          } else {
            slots.push_back(
                {{__builtin_bswap64(prefix.key.high), __builtin_bswap64(prefix.key.low), door}, match});
          }
        }
      }
    }
  }
  exact_.assign(table_size(slots.size()), {});
  exact_mask_ = exact_.size() - 1;
  for (const Slot& slot : slots) {
    std::size_t at = hash(slot.key) & exact_mask_;
    while (exact_[at].key.tail != 0) at = (at + 1) & exact_mask_;
    exact_[at] = slot;
  }
  exact_ipv4_.assign(table_size(slots_ipv4.size()), {});
  exact_ipv4_mask_ = exact_ipv4_.size() - 1;
  exact_ipv4_shift_ = 64 - static_cast<unsigned>(std::bit_width(exact_ipv4_mask_));
  for (const SlotIpv4& slot : slots_ipv4) {
    std::size_t at = first_ipv4(slot.key);
    while (exact_ipv4_[at].key != 0) at = (at + 1) & exact_ipv4_mask_;
    exact_ipv4_[at] = slot;
  }
}

const ServiceTable::Prefix* ServiceTable::find_prefix(const Key& key) const {
  for (std::size_t at = hash(key) & prefix_mask_;; at = (at + 1) & prefix_mask_) {
    if (prefix_slots_[at].key == key) return &prefixes_[prefix_slots_[at].prefix];
    if (prefix_slots_[at].key.tail == 0) return nullptr;
  }
}

ServiceMatch ServiceTable::find_by_prefix(Family family, const std::uint8_t* address,
                                          std::uint32_t door) const {
  const auto protocol = static_cast<std::uint8_t>(door >> 16);
  const auto port = __builtin_bswap16(static_cast<std::uint16_t>(door));
  const Key key = address_key(family, address);
  ServiceMatch match;
  for (const std::uint8_t length : lengths(family)) {
    const Prefix* prefix = find_prefix(masked(key, family, length));
    if (prefix == nullptr) continue;
    if (match.kind == ServiceMatch::Kind::not_ours) match = prefix->address_match;
    for (const Ports& ports : prefix->protocols) {
      if (ports.protocol != protocol) continue;
      const auto segment = std::ranges::lower_bound(ports.segments, port, {}, &Segment::last);
      if (segment == ports.segments.end() || segment->first > port) continue;
      match.kind = ServiceMatch::Kind::service;
      match.service = segment->service;
      match.pool = segment->pool;
      return match;
    }
  }
  return match;
}

ServiceMatch ServiceTable::find_address(Family family, const std::uint8_t* address) const {
  const Key key = address_key(family, address);
  for (const std::uint8_t length : lengths(family))
    if (const Prefix* prefix = find_prefix(masked(key, family, length))) return prefix->address_match;
  return {};
}

}  // namespace guideway
