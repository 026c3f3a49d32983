#include "io/packet_memory.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace guideway {
namespace {

constexpr unsigned mbuf_count = 1023;
// A jumbo frame in one segment; longer ones are chained.
constexpr std::uint16_t room = RTE_PKTMBUF_HEADROOM + 10240;

// Any CPU that this process may use: the thread is not bound to more than it had.
unsigned any_cpu() {
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0 : static_cast<unsigned>(cpu);
}

}  // namespace

Result<PacketMemory> PacketMemory::start() {
  // DPDK keeps pointers into its arguments.
  static std::array<std::string, 14> words;
  words = {"guideway",
           "--no-huge",
           "--no-pci",
           "--no-shconf",
           "--no-telemetry",
           "--log-level=error",
           "--iova-mode",
           "va",
           "-m",
           "64",
           "--lcores",
           fmt::format("0@{}", any_cpu()),
           "--file-prefix",
           fmt::format("guideway-replay-{}", getpid())};
  std::array<char*, words.size() + 1> arguments{};
  std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
  if (rte_eal_init(static_cast<int>(words.size()), arguments.data()) < 0)
    return fail(ErrorKind::internal, fmt::format("DPDK did not start: {}", rte_strerror(rte_errno)), {},
                "64 MB of memory and a writable /tmp are all it needs; see its lines above");
  rmdir(rte_eal_get_runtime_dir());  // made however little is kept in it
  rte_mempool* mbufs = rte_pktmbuf_pool_create("packets", mbuf_count, 0, 0, room, SOCKET_ID_ANY);
  if (mbufs == nullptr) {
    const std::string reason = rte_strerror(rte_errno);
    rte_eal_cleanup();
    return fail(ErrorKind::internal, "no memory for packets: " + reason, {},
                "free some memory and try again");
  }
  return PacketMemory(mbufs);
}

PacketMemory::PacketMemory(PacketMemory&& other) noexcept : mbufs_(std::exchange(other.mbufs_, nullptr)) {}

PacketMemory::~PacketMemory() {
  if (mbufs_ == nullptr) return;
  rte_mempool_free(mbufs_);
  rte_eal_cleanup();
}

rte_mbuf* PacketMemory::make(std::span<const std::uint8_t> bytes) const {
  rte_mbuf* first = rte_pktmbuf_alloc(mbufs_);
  if (first == nullptr) return nullptr;
  for (rte_mbuf* segment = first;;) {
    const auto size =
        static_cast<std::uint16_t>(std::min<std::size_t>(rte_pktmbuf_tailroom(segment), bytes.size()));
    std::memcpy(rte_pktmbuf_mtod(segment, void*), bytes.data(), size);
    segment->data_len = size;
    if (segment == first) {
      segment->pkt_len = size;
    } else if (segment->pkt_len = size; rte_pktmbuf_chain(first, segment) != 0) {
      rte_pktmbuf_free(segment);
      rte_pktmbuf_free(first);
      return nullptr;
    }
    bytes = bytes.subspan(size);
    if (bytes.empty()) return first;
    segment = rte_pktmbuf_alloc(mbufs_);
    if (segment == nullptr) {
      rte_pktmbuf_free(first);
      return nullptr;
    }
  }
}

}  // namespace guideway
