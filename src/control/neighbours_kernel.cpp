#include "control/neighbours_kernel.h"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace guideway {
namespace {

constexpr std::size_t buffer_bytes = 65536;
constexpr int event_buffer_bytes = 4 << 20;
constexpr int event_batch = 256;  // datagrams a turn, so that a storm of routes delays nothing else for long
constexpr timeval answer_limit{2, 0};  // the kernel answers at once; a lost answer must not hang the thread

constexpr std::array event_groups = {RTNLGRP_LINK,        RTNLGRP_NEIGH,      RTNLGRP_IPV4_IFADDR,
                                     RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
                                     RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,  RTNLGRP_NEXTHOP};

std::uint8_t family_number(const IpAddress& address) {
  return address.family == Family::ipv4 ? AF_INET : AF_INET6;
}

// The attributes of a message by type; unknown ones are left out. libmnl bounds the walk by the message.
template <std::size_t size>
std::array<const nlattr*, size> attributes(const nlmsghdr& message, std::size_t header_bytes) {
  std::array<const nlattr*, size> out{};
  if (mnl_nlmsg_get_payload_len(&message) < header_bytes) return out;
  const auto keep = [](const nlattr* attribute, void* to) {
    const std::uint16_t type = mnl_attr_get_type(attribute);
    if (type < size) (*static_cast<std::array<const nlattr*, size>*>(to))[type] = attribute;
    return MNL_CB_OK;
  };
  mnl_attr_parse(&message, static_cast<unsigned>(header_bytes), keep, &out);
  return out;
}

template <class Header>
const Header* header_of(const nlmsghdr& message) {
  if (mnl_nlmsg_get_payload_len(&message) < sizeof(Header)) return nullptr;
  return static_cast<const Header*>(mnl_nlmsg_get_payload(&message));
}

std::optional<IpAddress> address_from(int family, const void* bytes, std::size_t size) {
  IpAddress out;
  if (family == AF_INET6) out.family = Family::ipv6;
  if ((family != AF_INET && family != AF_INET6) || size != out.size()) return std::nullopt;
  std::memcpy(out.bytes.data(), bytes, size);
  return out;
}

std::optional<IpAddress> address_in(const nlattr* attribute, int family) {
  if (attribute == nullptr) return std::nullopt;
  return address_from(family, mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
}

std::optional<std::uint32_t> number_in(const nlattr* attribute) {
  if (attribute == nullptr || mnl_attr_get_payload_len(attribute) != 4) return std::nullopt;
  return mnl_attr_get_u32(attribute);
}

std::optional<KernelLink> link_in(const nlmsghdr& message) {
  const auto* header = header_of<ifinfomsg>(message);
  if (header == nullptr || header->ifi_family != AF_UNSPEC)
    return std::nullopt;  // bridge ports' own messages
  const auto found = attributes<IFLA_MAX + 1>(message, sizeof(ifinfomsg));
  KernelLink link;
  link.ifindex = static_cast<unsigned>(header->ifi_index);
  link.up = (header->ifi_flags & IFF_UP) != 0 && (header->ifi_flags & IFF_RUNNING) != 0;
  link.gone = message.nlmsg_type == RTM_DELLINK;
  if (const auto* name = found[IFLA_IFNAME])
    link.name.assign(
        static_cast<const char*>(mnl_attr_get_payload(name)),
        strnlen(static_cast<const char*>(mnl_attr_get_payload(name)), mnl_attr_get_payload_len(name)));
  return link;
}

KernelNeighbour::State state_of(std::uint16_t nud) {
  using enum KernelNeighbour::State;
  if (nud & (NUD_PERMANENT | NUD_NOARP)) return fixed;
  if (nud & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)) return usable;
  if (nud & NUD_INCOMPLETE) return incomplete;
  return nud & NUD_FAILED ? failed : none;
}

std::optional<KernelNeighbour> neighbour_in(const nlmsghdr& message) {
  const auto* header = header_of<ndmsg>(message);
  if (header == nullptr || (header->ndm_flags & NTF_PROXY) != 0) return std::nullopt;
  const auto found = attributes<NDA_MAX + 1>(message, sizeof(ndmsg));
  const auto address = address_in(found[NDA_DST], header->ndm_family);
  if (!address) return std::nullopt;
  KernelNeighbour out;
  out.key = {static_cast<unsigned>(header->ndm_ifindex), *address};
  if (message.nlmsg_type == RTM_DELNEIGH) return out;
  out.state = state_of(header->ndm_state);
  out.confirmed = (header->ndm_state & NUD_REACHABLE) != 0;
  out.learned = (header->ndm_flags & NTF_EXT_LEARNED) != 0;
  out.managed = (number_in(found[NDA_FLAGS_EXT]).value_or(0) & NTF_EXT_MANAGED) != 0;
  MacAddress mac{};
  const auto* lladdr = found[NDA_LLADDR];
  if (lladdr != nullptr && mnl_attr_get_payload_len(lladdr) == mac.size()) {
    std::memcpy(mac.data(), mnl_attr_get_payload(lladdr), mac.size());
    if (mac != MacAddress{}) out.mac = mac;
  }
  return out;
}

std::optional<IpAddress> via_in(const nlattr* attribute) {
  if (attribute == nullptr || mnl_attr_get_payload_len(attribute) < sizeof(rtvia)) return std::nullopt;
  const auto* bytes = static_cast<const std::uint8_t*>(mnl_attr_get_payload(attribute));
  std::uint16_t family = 0;
  std::memcpy(&family, bytes, sizeof family);
  return address_from(family, bytes + sizeof family, mnl_attr_get_payload_len(attribute) - sizeof family);
}

// The addresses that a route's prefix covers. A message that says no prefix is the default route.
KernelRouteChange route_change_in(const nlmsghdr& message) {
  const KernelRouteChange everything{.all = true, .first = {}, .last = {}};
  const auto* header = header_of<rtmsg>(message);
  if (header == nullptr) return everything;
  const auto found = attributes<RTA_MAX + 1>(message, sizeof(rtmsg));
  const auto destination = address_in(found[RTA_DST], header->rtm_family);
  if (!destination) return everything;
  KernelRouteChange out{.all = false, .first = *destination, .last = *destination};
  for (std::size_t bit = header->rtm_dst_len; bit < 8 * destination->size(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
    out.first.bytes[bit / 8] = static_cast<std::uint8_t>(out.first.bytes[bit / 8] & ~mask);
    out.last.bytes[bit / 8] = static_cast<std::uint8_t>(out.last.bytes[bit / 8] | mask);
  }
  return out;
}

std::optional<KernelEvent> event_in(const nlmsghdr& message) {
  switch (message.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      if (auto link = link_in(message)) return *link;
      return std::nullopt;
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      if (auto neighbour = neighbour_in(message)) return *neighbour;
      return std::nullopt;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return route_change_in(message);
    // An address that goes takes its routes along without a word; rules and next hop objects change routes
    // that stay as they are.
    case RTM_NEWADDR:
    case RTM_DELADDR:
    case RTM_NEWRULE:
    case RTM_DELRULE:
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return KernelRouteChange{.all = true, .first = {}, .last = {}};
    default:
      return std::nullopt;
  }
}

tl::unexpected<Error> no_socket(std::string_view doing) {
  return fail(ErrorKind::internal, fmt::format("rtnetlink: {}: {}", doing, std::strerror(errno)), {},
              "the kernel must offer netlink sockets to guidewayd (systemd: RestrictAddressFamilies)");
}

// A request in a buffer that holds any request of this file.
class Request {
 public:
  Request(std::uint16_t type, std::uint16_t flags) : header_(mnl_nlmsg_put_header(buffer_.data())) {
    header_->nlmsg_type = type;
    header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  }
  template <class Header>
  Header& put_header() {
    return *static_cast<Header*>(mnl_nlmsg_put_extra_header(header_, sizeof(Header)));
  }
  void put_address(std::uint16_t type, const IpAddress& address) {
    mnl_attr_put(header_, type, address.size(), address.bytes.data());
  }
  void put_number(std::uint16_t type, std::uint32_t value) { mnl_attr_put_u32(header_, type, value); }
  nlmsghdr& message() { return *header_; }

 private:
  alignas(nlmsghdr) std::array<char, 256> buffer_{};
  nlmsghdr* header_;
};

}  // namespace

Result<KernelQueries> KernelQueries::open() {
  Socket socket(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC), mnl_socket_close);
  if (!socket) return no_socket("no socket");
  if (mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) return no_socket("bind");
  if (setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &answer_limit,
                 sizeof answer_limit))
    return no_socket("time limit");
  return KernelQueries(std::move(socket));
}

int KernelQueries::ask(nlmsghdr& request, const std::function<void(const nlmsghdr&)>& take) {
  request.nlmsg_seq = ++sequence_;
  if (mnl_socket_sendto(socket_.get(), &request, request.nlmsg_len) < 0) return -errno;
  alignas(nlmsghdr) std::array<char, buffer_bytes> buffer;
  for (;;) {
    const ssize_t got = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    int left = static_cast<int>(got);
    const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data());
    for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
      if (message->nlmsg_seq != sequence_) continue;  // the late answer to a question given up
      if (message->nlmsg_type == NLMSG_DONE) return 0;
      if (message->nlmsg_type == NLMSG_ERROR) {
        const auto* error = header_of<nlmsgerr>(*message);
        return error == nullptr ? -EBADMSG : error->error;
      }
      take(*message);
      if ((message->nlmsg_flags & NLM_F_MULTI) == 0 && (request.nlmsg_flags & NLM_F_ACK) == 0) return 0;
    }
  }
}

Result<std::vector<KernelLink>> KernelQueries::links() {
  Request request(RTM_GETLINK, NLM_F_DUMP);
  request.put_header<ifinfomsg>().ifi_family = AF_UNSPEC;
  std::vector<KernelLink> out;
  const int error = ask(request.message(), [&](const nlmsghdr& message) {
    if (auto link = link_in(message)) out.push_back(std::move(*link));
  });
  if (error != 0)
    return fail(ErrorKind::internal, fmt::format("cannot list links: {}", std::strerror(-error)));
  return out;
}

Result<KernelRoute> KernelQueries::route_to(const IpAddress& address) {
  Request request(RTM_GETROUTE, 0);
  auto& header = request.put_header<rtmsg>();
  header.rtm_family = family_number(address);
  header.rtm_dst_len = static_cast<std::uint8_t>(8 * address.size());
  request.put_address(RTA_DST, address);
  KernelRoute route;
  unsigned char type = RTN_UNSPEC;
  const int error = ask(request.message(), [&](const nlmsghdr& message) {
    const auto* answer = header_of<rtmsg>(message);
    if (answer == nullptr) return;
    const auto found = attributes<RTA_MAX + 1>(message, sizeof(rtmsg));
    type = answer->rtm_type;
    route.ifindex = number_in(found[RTA_OIF]).value_or(0);
    route.gateway = address_in(found[RTA_GATEWAY], answer->rtm_family);
    if (!route.gateway) route.gateway = via_in(found[RTA_VIA]);
  });
  if (error != 0)
    return fail(ErrorKind::refused, fmt::format("no route to {}: {}", address.text(), std::strerror(-error)),
                {}, "add a route on the host");
  route.local = type == RTN_LOCAL;
  if (type != RTN_UNICAST && !route.local)
    return fail(ErrorKind::refused,
                fmt::format("the route to {} leads nowhere (route type {})", address.text(), type), {},
                "add a unicast route on the host");
  return route;
}

Result<KernelNeighbour> KernelQueries::neighbour(const NeighbourKey& key) {
  Request request(RTM_GETNEIGH, 0);
  auto& header = request.put_header<ndmsg>();
  header.ndm_family = family_number(key.address);
  header.ndm_ifindex = static_cast<int>(key.ifindex);
  request.put_address(NDA_DST, key.address);
  KernelNeighbour out;
  const int error = ask(request.message(), [&](const nlmsghdr& message) {
    if (auto neighbour = neighbour_in(message)) out = *neighbour;
  });
  if (error != 0 && error != -ENOENT)
    return fail(ErrorKind::internal,
                fmt::format("cannot look up neighbour {}: {}", key.address.text(), std::strerror(-error)));
  out.key = key;
  return out;
}

// Without NLM_F_REPLACE the entry's MAC and its IPv6 router flag stay.
int KernelQueries::change_neighbour(const NeighbourKey& key, std::uint16_t state, std::uint8_t flags,
                                    std::uint32_t ext) {
  Request request(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK);
  auto& header = request.put_header<ndmsg>();
  header.ndm_family = family_number(key.address);
  header.ndm_ifindex = static_cast<int>(key.ifindex);
  header.ndm_state = state;
  header.ndm_flags = flags;
  request.put_address(NDA_DST, key.address);
  if (ext != 0) request.put_number(NDA_FLAGS_EXT, ext);
  return ask(request.message(), [](const nlmsghdr&) {});
}

Result<void> KernelQueries::resolve(const NeighbourKey& key, bool managed) {
  const int error = change_neighbour(key, NUD_NONE, NTF_USE, managed ? NTF_EXT_MANAGED : 0);
  if (error == 0) return {};
  return fail(ErrorKind::refused,
              fmt::format("cannot resolve {}: {}", key.address.text(), std::strerror(-error)), {},
              error == -EPERM     ? "guidewayd needs CAP_NET_ADMIN"
              : error == -ENOBUFS ? "raise net.ipv4.neigh.default.gc_thresh3 (or the one of ipv6)"
                                  : "");
}

Result<void> KernelQueries::probe(const NeighbourKey& key) {
  const int error = change_neighbour(key, NUD_PROBE, 0, 0);
  if (error == 0) return {};
  return fail(ErrorKind::refused,
              fmt::format("cannot probe {}: {}", key.address.text(), std::strerror(-error)));
}

Result<void> KernelQueries::forget(const NeighbourKey& key) {
  Request request(RTM_DELNEIGH, NLM_F_ACK);
  auto& header = request.put_header<ndmsg>();
  header.ndm_family = family_number(key.address);
  header.ndm_ifindex = static_cast<int>(key.ifindex);
  request.put_address(NDA_DST, key.address);
  const int error = ask(request.message(), [](const nlmsghdr&) {});
  if (error == 0 || error == -ENOENT) return {};
  return fail(ErrorKind::refused,
              fmt::format("cannot ask for {} anew: {}", key.address.text(), std::strerror(-error)));
}

Result<KernelEvents> KernelEvents::open() {
  Socket socket(mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK), mnl_socket_close);
  if (!socket) return no_socket("no socket");
  const int fd = mnl_socket_get_fd(socket.get());
  // A larger buffer only makes lost events rarer; FORCE needs CAP_NET_ADMIN, the plain one is a fallback.
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &event_buffer_bytes, sizeof event_buffer_bytes) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &event_buffer_bytes, sizeof event_buffer_bytes);
  if (mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) != 0) return no_socket("bind");
  for (int group : event_groups)
    if (mnl_socket_setsockopt(socket.get(), NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0 &&
        group != RTNLGRP_NEXTHOP)  // from 5.3 on
      return no_socket("multicast groups");
  return KernelEvents(std::move(socket));
}

int KernelEvents::descriptor() const { return mnl_socket_get_fd(socket_.get()); }

bool KernelEvents::drain(const std::function<void(const KernelEvent&)>& take) {
  alignas(nlmsghdr) std::array<char, buffer_bytes> buffer;
  for (int turn = 0; turn < event_batch; ++turn) {
    const ssize_t got = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    int left = static_cast<int>(got);
    const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data());
    for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
      if (const auto event = event_in(*message)) take(*event);
  }
  return true;
}

}  // namespace guideway
