#include "io/port.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "io/attachment.h"
#include "io/frame_room.h"
#include "io/interface.h"
#include "io/packet_sockets.h"
#include "io/pool_size.h"
#include "io/xdp_program.h"

namespace guideway {
namespace {

// TCP and UDP by the 4-tuple, fragments by the addresses alone, so that the pieces of a datagram meet.
constexpr std::uint64_t rss_wanted = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
                                     RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |
                                     RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_TCP |
                                     RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
                                     RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_IPV6_TCP_EX | RTE_ETH_RSS_IPV6_UDP_EX;

// af_xdp keeps thousands of buffers in each queue's fill ring.
constexpr std::uint32_t af_xdp_floor = 2 * 4096;

// Devices that can spread flows over queues, or whose queues need no spreading.
bool spreads_flows(const Device& device, const rte_eth_dev_info& info) {
  switch (device.kind) {
    case Device::Kind::pci:
      return (info.flow_type_rss_offloads & rss_wanted) != 0;
    case Device::Kind::af_packet:  // PACKET_FANOUT by the flow's hash
    case Device::Kind::af_xdp:     // the NIC's own RSS fills its queues
    case Device::Kind::tap:        // the kernel's flow hash
    case Device::Kind::ring:
    case Device::Kind::null_:
      return true;
    case Device::Kind::pcap:
    case Device::Kind::pcap_loop:
      return false;
  }
  return false;
}

// False where the driver tells ethdev of standard frames only though its buffers hold more (af_packet); ethdev
// would refuse a larger MTU in its name, and the interface behind it has to be set instead.
bool takes_mtu(const rte_eth_dev_info& info, std::uint16_t mtu) {
  constexpr std::uint32_t link = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  return info.max_mtu != UINT16_MAX || mtu + link <= info.max_rx_pktlen;
}

}  // namespace

void Port::PoolDeleter::operator()(rte_mempool* pool) const { rte_mempool_free(pool); }

Port::Port(Port&&) noexcept = default;

Port::~Port() {
  for (const auto device : devices_) detach(device);
}

tl::unexpected<Error> Port::refuse(std::string what, std::string next) const {
  return fail(ErrorKind::refused, fmt::format("port {} ({}): {}", config_.name, config_.device, what), {},
              std::move(next));
}

Result<Port> Port::open(const PortRequest& request, PortView& view) {
  Port port;
  port.config_ = request.config;
  auto device = parse_device(request.config.device);
  if (!device) return tl::unexpected(device.error());
  port.device_ = *device;
  const auto queue_count = port.choose_queue_count(request);
  if (!queue_count) return tl::unexpected(queue_count.error());
  if (auto done = port.attach(request, *queue_count); !done) return tl::unexpected(done.error());
  if (auto done = port.make_pool(request, *queue_count); !done) return tl::unexpected(done.error());
  const auto queues_each = static_cast<std::uint16_t>(*queue_count / port.devices_.size());
  for (const auto dpdk_port : port.devices_)
    if (auto done = port.configure(dpdk_port, queues_each); !done) return tl::unexpected(done.error());
  if (auto done = port.start_steering(); !done) return tl::unexpected(done.error());
  port.fill(view);
  return port;
}

Result<std::uint16_t> Port::choose_queue_count(const PortRequest& request) const {
  const auto workers = static_cast<std::uint16_t>(request.workers.size());
  if (device_.reads_capture() && config_.queues > 1)
    return refuse(fmt::format("{} queues are asked for, the device has 1", config_.queues), "set queues = 1");
  if (device_.kind == Device::Kind::af_xdp) return choose_xdp_queue_count(workers);
  if (config_.queues > 0) return config_.queues;
  if (device_.reads_capture()) return std::uint16_t{1};
  if (device_.kind != Device::Kind::pci) return workers;
  // What was not asked for is fitted to the device.
  const auto dpdk_port = find_pci(device_.argument);
  rte_eth_dev_info info{};
  if (!dpdk_port || rte_eth_dev_info_get(*dpdk_port, &info) != 0) return workers;  // attach() tells why
  if (!spreads_flows(device_, info)) return std::uint16_t{1};
  return std::min({workers, info.max_rx_queues, info.max_tx_queues});
}

// A frame for a service at a queue that nobody is bound to would be lost, so all of the interface's are taken.
Result<std::uint16_t> Port::choose_xdp_queue_count(std::uint16_t workers) const {
  const auto channels = read_channels(device_.argument);
  const unsigned bindable = std::max(channels.combined, 1U);
  const unsigned wanted = config_.queues > 0 ? config_.queues : std::min<unsigned>(workers, bindable);
  if (wanted > bindable)
    return refuse(
        fmt::format("{} queues are asked for, DPDK binds to {} here", wanted, bindable),
        fmt::format("set queues = {}, or ethtool -L {} combined {}", bindable, device_.argument, wanted));
  if (wanted < channels.receive)
    return refuse(
        fmt::format("the interface receives on {} queues and {} would have a socket; what comes in at the "
                    "others would be lost",
                    channels.receive, wanted),
        fmt::format("ethtool -L {} {} {}", device_.argument, channels.combined > 0 ? "combined" : "rx",
                    wanted));
  return static_cast<std::uint16_t>(wanted);
}

Result<void> Port::attach(const PortRequest& request, std::uint16_t queue_count) {
  std::vector<Result<std::uint16_t>> attached;
  if (device_.kind == Device::Kind::pci) {
    attached.push_back(find_pci(device_.argument));
  } else if (device_.kind == Device::Kind::ring) {
    attached.push_back(attach_rings(device_.argument, queue_count, 0));
  } else {
    DeviceRequest wanted{request.index, queue_count, config_.mtu, {}};
    if (shares_interface(device_))
      loan_ = std::make_unique<InterfaceLoan>(device_.argument, config_.mtu, config_.promiscuous);
    if (device_.kind == Device::Kind::af_xdp) {
      if (auto clear = clear_interface(device_.argument); !clear) return refuse(clear.error());
      auto object = steering_object();
      if (!object) return refuse(object.error());
      wanted.steering_object = std::move(*object);
    }
    for (const auto& device : virtual_devices(device_, wanted)) {
      attached.push_back(attach_virtual(device));
      if (!attached.back()) break;
    }
  }
  for (const auto& one : attached)
    if (one) devices_.push_back(*one);
  if (!attached.back()) return refuse(attached.back().error());
  const int socket = rte_eth_dev_socket_id(devices_.front());
  socket_ = socket < 0 ? 0 : socket;
  return {};
}

Result<void> Port::make_pool(const PortRequest& request, std::uint16_t queue_count) {
  const auto workers = static_cast<std::uint32_t>(request.workers.size());
  PoolDemand demand{config_.rx_descriptors * std::uint32_t{queue_count}, request.tx_rings_all, workers, 0};
  const bool xdp = device_.kind == Device::Kind::af_xdp;
  if (xdp && config_.mtu > xdp_mtu_max)
    return refuse(fmt::format("mtu {} is too large for AF_XDP, whose frames lie in a page each", config_.mtu),
                  fmt::format("set mtu to {} at most, or use af_packet:{}", xdp_mtu_max, device_.argument));
  if (xdp) demand.floor = af_xdp_floor * queue_count;
  const std::size_t room =
      (xdp ? xdp_frame_room(config_.mtu) : frame_room(config_.mtu)) + RTE_PKTMBUF_HEADROOM;
  if (room > UINT16_MAX)
    return refuse(fmt::format("mtu {} makes frames that no mbuf holds", config_.mtu),
                  "use an mtu up to 9600");
  const std::string name = fmt::format("port{}", request.index);
  pool_.reset(rte_pktmbuf_pool_create(name.c_str(), pool_size(demand), pool_cache, 0,
                                      static_cast<std::uint16_t>(room), socket_));
  if (!pool_)
    return refuse(fmt::format("no memory for {} packet buffers of {} bytes: {}", pool_size(demand), room,
                              rte_strerror(rte_errno)),
                  "free hugepages, or raise memory_mb where there are none");
  for (const unsigned worker : request.workers) {
    if (rte_lcore_is_enabled(worker) != 0 && rte_lcore_to_socket_id(worker) != static_cast<unsigned>(socket_))
      spdlog::warn(fmt::format(
          "port {}: worker {} is on socket {}, the device on socket {}; choose workers near the device",
          config_.name, worker, rte_lcore_to_socket_id(worker), socket_));
  }
  return {};
}

Result<void> Port::configure(std::uint16_t dpdk_port, std::uint16_t queue_count) {
  rte_eth_dev_info info{};
  if (const int status = rte_eth_dev_info_get(dpdk_port, &info); status != 0)
    return refuse(fmt::format("the device does not tell of itself: {}", rte_strerror(-status)));
  driver_ = info.driver_name;
  const auto limit = std::min(info.max_rx_queues, info.max_tx_queues);
  if (queue_count > limit)
    return refuse(fmt::format("{} queues are asked for, the device has {}", queue_count, limit),
                  fmt::format("set queues = {}", limit));
  if (queue_count > 1 && !spreads_flows(device_, info))
    return refuse(fmt::format("the device cannot spread flows over {} queues", queue_count),
                  "set queues = 1");
  if (config_.mtu < info.min_mtu || config_.mtu > info.max_mtu)
    return refuse(
        fmt::format("mtu {} is outside of the device's {} to {}", config_.mtu, info.min_mtu, info.max_mtu),
        "choose another mtu");

  rte_eth_conf conf{};
  const bool by_driver = !shares_interface(device_) || takes_mtu(info, config_.mtu);
  conf.rxmode.mtu = by_driver ? config_.mtu : std::uint16_t{RTE_ETHER_MTU};
  if (queue_count > 1 && (info.flow_type_rss_offloads & rss_wanted) != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & rss_wanted;
  }
  // Software drivers only repeat what the data plane checks anyhow.
  if (device_.kind == Device::Kind::pci && (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0) {
    conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
    rx_ip_checksum_ = true;
  }
  if ((info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0)
    conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

  int status = rte_eth_dev_configure(dpdk_port, queue_count, queue_count, &conf);
  if (status != 0) return refuse(fmt::format("the device refuses its settings: {}", rte_strerror(-status)));
  // The driver's own MTU call also sets the interface behind it; some drivers can only do so here.
  status = by_driver ? rte_eth_dev_set_mtu(dpdk_port, config_.mtu)
                     : set_interface_mtu(device_.argument, config_.mtu);
  if (status != 0 && status != -ENOTSUP)
    return refuse(fmt::format("the device refuses mtu {}: {}", config_.mtu, rte_strerror(-status)),
                  "choose a smaller mtu");
  if (device_.kind == Device::Kind::af_xdp)
    if (auto rehearsed = rehearse_program(device_.argument); !rehearsed) return refuse(rehearsed.error());
  return set_up_queues(dpdk_port, queue_count);
}

Result<void> Port::set_up_queues(std::uint16_t dpdk_port, std::uint16_t queue_count) {
  int status = rte_eth_dev_adjust_nb_rx_tx_desc(dpdk_port, &config_.rx_descriptors, &config_.tx_descriptors);
  if (status != 0 && status != -ENOTSUP)
    return refuse(fmt::format("the device refuses its descriptor counts: {}", rte_strerror(-status)));

  for (std::uint16_t queue = 0; queue < queue_count; ++queue) {
    const auto socket = static_cast<unsigned>(socket_);
    status = rte_eth_rx_queue_setup(dpdk_port, queue, config_.rx_descriptors, socket, nullptr, pool_.get());
    if (status == 0)
      status = rte_eth_tx_queue_setup(dpdk_port, queue, config_.tx_descriptors, socket, nullptr);
    if (status != 0)
      return refuse(fmt::format("queue {} cannot be set up: {}", queue, rte_strerror(-status)),
                    device_.kind == Device::Kind::af_xdp
                        ? "see whether another program has an AF_XDP socket there (ss --family=xdp -p)"
                        : "see the lines of \"dpdk:\" above");
    queues_.push_back({dpdk_port, queue});
  }
  status = rte_eth_dev_start(dpdk_port);
  if (status != 0) return refuse(fmt::format("the device does not start: {}", rte_strerror(-status)));
  if (device_.kind == Device::Kind::af_packet) ignore_outgoing(device_.argument);
  status =
      config_.promiscuous ? rte_eth_promiscuous_enable(dpdk_port) : rte_eth_promiscuous_disable(dpdk_port);
  if (status != 0 && status != -ENOTSUP && config_.promiscuous)
    return refuse(fmt::format("the device cannot be promiscuous: {}", rte_strerror(-status)),
                  "set promiscuous = false");
  return {};
}

Result<void> Port::start_steering() {
  if (device_.kind != Device::Kind::af_xdp) return {};
  auto found = Steering::find(device_.argument, config_.answer_arp);
  if (!found) return refuse(found.error());
  steering_ = std::move(*found);
  return {};
}

void Port::fill(PortView& view) const {
  view.mac = mac();
  view.vlan = config_.vlan;
  view.answer_arp = config_.answer_arp;
  view.rx_ip_checksum = rx_ip_checksum_;
  view.mtu.store(config_.mtu, std::memory_order_relaxed);
  view.link_up.store(read_device_link(), std::memory_order_relaxed);
}

MacAddress Port::mac() const {
  rte_ether_addr address{};
  rte_eth_macaddr_get(devices_.front(), &address);
  MacAddress out{};
  std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), out.begin());
  return out;
}

std::string Port::kernel_interface() const {
  if (!config_.kernel_interface.empty()) return config_.kernel_interface;
  return device_interface();
}

std::string Port::device_interface() const {
  return shares_interface(device_) || device_.kind == Device::Kind::tap ? device_.argument : std::string();
}

bool Port::read_device_link() const {
  return std::all_of(devices_.begin(), devices_.end(), [](std::uint16_t dpdk_port) {
    rte_eth_link link{};
    return rte_eth_link_get_nowait(dpdk_port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  });
}

PortTraffic Port::traffic() const {
  PortTraffic out;
  for (const auto dpdk_port : devices_) {
    rte_eth_stats stats{};
    if (rte_eth_stats_get(dpdk_port, &stats) != 0) continue;
    out.rx_packets += stats.ipackets;
    out.tx_packets += stats.opackets;
    out.rx_missed += stats.imissed + stats.rx_nombuf;
    out.rx_errors += stats.ierrors;
    out.tx_errors += stats.oerrors;
  }
  return out;
}

}  // namespace guideway
