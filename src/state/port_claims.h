// Port claims: which of many services ask for a port that another one asks for, too.
// What: their ranges by where they begin, as a balanced tree without pointers: the middle of a span is its root, and
//       knows how far the ranges of its span reach.
// Why:  thousands of services can share an address, and each of them wants to know of its neighbours alone.
// Cost: a look takes the logarithm of all ranges for each that it finds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "state/site.h"

namespace guideway {

class PortClaims {
 public:
  PortClaims() = default;
  // The services outlive the claims.
  explicit PortClaims(std::vector<const Service*> services) : services_(std::move(services)) {
    for (std::size_t place = 0; place < services_.size(); ++place)
      for (const PortRange& range : ranges_of(*services_[place]))
        claims_.push_back({range, range.last, place});
    std::ranges::sort(claims_, {}, [](const Claim& claim) { return claim.range.first; });
    measure(0, claims_.size());
  }

  // Those that ask for a port of `service`, which may be among them; each once, in the order in which
  // they were named.
  [[nodiscard]] std::vector<const Service*> sharing(const Service& service) const {
    std::vector<std::size_t> places;
    for (const PortRange& range : ranges_of(service)) find(0, claims_.size(), range, places);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::vector<const Service*> out;
    for (const std::size_t place : places) out.push_back(services_[place]);
    return out;
  }

 private:
  struct Claim {
    PortRange range;
    std::uint16_t furthest = 0;  // last port of the ranges in the span that this is the middle of
    std::size_t place = 0;       // of the service
  };

  static const std::vector<PortRange>& ranges_of(const Service& service) {
    static const std::vector<PortRange> any{{0, 0xffff}};
    return service.ports.empty() ? any : service.ports;
  }
  std::uint16_t measure(std::size_t begin, std::size_t end) {
    if (begin == end) return 0;
    const std::size_t middle = begin + (end - begin) / 2;
    Claim& claim = claims_[middle];
    return claim.furthest = std::max({claim.furthest, measure(begin, middle), measure(middle + 1, end)});
  }
  void find(std::size_t begin, std::size_t end, const PortRange& range, std::vector<std::size_t>& out) const {
    if (begin == end) return;
    const std::size_t middle = begin + (end - begin) / 2;
    const Claim& claim = claims_[middle];
    if (claim.furthest < range.first) return;
    find(begin, middle, range, out);
    if (claim.range.first > range.last) return;
    if (claim.range.last >= range.first) out.push_back(claim.place);
    find(middle + 1, end, range, out);
  }

  std::vector<const Service*> services_;
  std::vector<Claim> claims_;
};

}  // namespace guideway
