#include "io/twin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "io/attachment.h"
#include "io/frame_room.h"
#include "io/pool_size.h"

namespace guideway {
namespace {

// The TAP driver reads each frame into a list of as many buffers as the queue has descriptors: a few suffice.
constexpr std::uint16_t twin_descriptors = 8;
constexpr std::size_t twin_queues_max = 16;

bool carries_tag(const rte_mbuf& frame, std::uint16_t vlan) {
  if (frame.data_len < sizeof(rte_ether_hdr) + sizeof(rte_vlan_hdr)) return false;
  const auto* ether = rte_pktmbuf_mtod(&frame, const rte_ether_hdr*);
  if (ether->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) return false;
  const auto* tag = reinterpret_cast<const rte_vlan_hdr*>(ether + 1);
  return (rte_be_to_cpu_16(tag->vlan_tci) & 0x0fff) == vlan;
}

// What the TAP driver takes: it names no MTU, only the longest frame (1,522 bytes in DPDK 22.11), and ethdev
// refuses more. A smaller twin is no harm to the host's own TCP; the services' packets never cross it.
Result<std::uint16_t> twin_mtu(std::uint16_t dpdk_port, std::uint16_t wanted) {
  rte_eth_dev_info info{};
  if (const int status = rte_eth_dev_info_get(dpdk_port, &info); status != 0)
    return fail(ErrorKind::refused,
                fmt::format("the TAP device does not tell of itself: {}", rte_strerror(-status)));
  constexpr std::uint32_t link = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + RTE_VLAN_HLEN;
  const std::uint32_t most = info.max_mtu != UINT16_MAX ? info.max_mtu : info.max_rx_pktlen - link;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(wanted, most));
}

}  // namespace

void Twin::PoolDeleter::operator()(rte_mempool* pool) const { rte_mempool_free(pool); }

Twin::Twin(Twin&&) noexcept = default;

Twin::~Twin() {
  for (const auto device : devices_) detach(device);
}

bool wants_twin(const PortConfig& config, const Device& device) {
  return config.twin || (device.kind == Device::Kind::pci && !config.kernel_interface.empty());
}

Result<Twin> Twin::open(std::size_t index, const Port& port, std::size_t workers) {
  const auto queue_count = static_cast<std::uint16_t>(std::min(workers, twin_queues_max));
  Twin twin;
  twin.interface_ = port.config().kernel_interface;
  const auto refuse = [&](const std::string& what, std::string next) {
    return fail(
        ErrorKind::refused,
        fmt::format("port {}: its kernel interface \"{}\": {}", port.config().name, twin.interface_, what),
        {}, std::move(next));
  };
  if (twin.interface_.empty() || twin.interface_ == port.device().argument)
    return refuse("a twin needs a name of its own", "set kernel_interface, as in \"gw-wan\"");
  const auto mac = port.mac();
  const auto device = twin_device(index, twin.interface_, fmt::format("{:02x}", fmt::join(mac, ":")));
  const auto attached = attach_virtual(device);
  if (!attached) return refuse(attached.error().what, attached.error().next);
  twin.devices_.push_back(*attached);
  const PoolDemand demand{std::uint32_t{twin_descriptors} * queue_count * 2,
                          port.config().tx_descriptors * std::uint32_t{queue_count},
                          static_cast<std::uint32_t>(workers), 0};
  twin.pool_.reset(rte_pktmbuf_pool_create(
      fmt::format("twin{}", index).c_str(), pool_size(demand), pool_cache, 0,
      static_cast<std::uint16_t>(frame_room(port.config().mtu) + RTE_PKTMBUF_HEADROOM), port.socket()));
  if (!twin.pool_) return refuse("no memory for its packet buffers", "free hugepages, or raise memory_mb");
  if (auto done = twin.configure(port, queue_count); !done)
    return refuse(done.error().what, done.error().next);
  return twin;
}

Result<void> Twin::configure(const Port& port, std::uint16_t queue_count) {
  const auto dpdk_port = devices_.front();
  const auto socket = static_cast<unsigned>(port.socket());
  rte_eth_conf conf{};
  int status = rte_eth_dev_configure(dpdk_port, queue_count, queue_count, &conf);
  for (std::uint16_t queue = 0; status == 0 && queue < queue_count; ++queue) {
    status = rte_eth_rx_queue_setup(dpdk_port, queue, twin_descriptors, socket, nullptr, pool_.get());
    if (status == 0) status = rte_eth_tx_queue_setup(dpdk_port, queue, twin_descriptors, socket, nullptr);
    queues_.push_back({dpdk_port, queue});
  }
  const auto mtu = twin_mtu(dpdk_port, port.config().mtu);
  if (!mtu) return tl::unexpected(mtu.error());
  if (*mtu < port.config().mtu)
    spdlog::warn(fmt::format(
        "port {}: its kernel interface {} has MTU {}, the port {}: the TAP driver takes no longer frames",
        port.config().name, interface_, *mtu, port.config().mtu));
  if (status == 0) status = rte_eth_dev_set_mtu(dpdk_port, *mtu);
  if (status == 0) status = rte_eth_dev_start(dpdk_port);
  if (status == 0) return {};
  return fail(ErrorKind::refused, fmt::format("the TAP device does not start: {}", rte_strerror(-status)), {},
              "see the lines of \"dpdk:\" above");
}

void to_twin(rte_mbuf** frames, std::uint16_t count, std::uint16_t vlan) {
  for (std::uint16_t i = 0; i < count; ++i) {
    frames[i]->ol_flags = 0;  // what the NIC said of it is nothing that the TAP driver should act on
    if (vlan == 0 || !carries_tag(*frames[i], vlan)) continue;
    rte_vlan_strip(frames[i]);
    frames[i]->ol_flags = 0;
  }
}

std::uint16_t from_twin(rte_mbuf** frames, std::uint16_t count, std::uint16_t vlan) {
  std::uint16_t kept = 0;
  for (std::uint16_t i = 0; i < count; ++i) {
    rte_mbuf* frame = frames[i];
    frame->ol_flags = 0;
    frame->vlan_tci = vlan;
    if (vlan != 0 && rte_vlan_insert(&frame) != 0) {
      rte_pktmbuf_free(frame);
      continue;
    }
    frame->ol_flags = 0;
    frames[kept++] = frame;
  }
  return kept;
}

}  // namespace guideway
