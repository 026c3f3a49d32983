// The data plane per packet: the whole pipeline over real mbufs, and the flow table's look-up alone.
// Packets vary from burst to burst (each burst takes other flows of the set), so that no predictor learns them; headers
// are fresh each time. Time to make the mbufs ready is in the loop and measured on its own as Floor.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "dataplane/pipeline.h"
#include "io/packet_memory.h"
#include "net/checksum.h"
#include "net/protocols.h"

namespace guideway {
namespace {

constexpr std::size_t frame_size = 64;
constexpr MacAddress mac{0x02, 0, 0, 0, 0, 1};

PacketMemory& memory() {
  static Result<PacketMemory> started = PacketMemory::start();
  if (!started) {
    std::fprintf(stderr, "bench: %s\n", started.error().text().c_str());
    std::exit(1);
  }
  return *started;
}

// A 64-byte frame: Ethernet, IPv4, TCP with ACK; the flow's number is in source address and port.
std::array<std::uint8_t, frame_size> make_frame(std::uint32_t flow, std::uint8_t flags) {
  std::array<std::uint8_t, frame_size> frame{};
  std::memcpy(frame.data(), mac.data(), 6);
  net::store_be16(frame.data() + 12, 0x0800);
  std::uint8_t* ip = frame.data() + 14;
  net::store_be32(ip, 0x45000000U | (frame_size - 14));
  net::store_be32(ip + 8, 64U << 24 | std::uint32_t{net::protocol_tcp} << 16);
  net::store_be32(ip + 12, 0xc6000000U | flow >> 8);
  net::store_be32(ip + 16, 0xcb00710aU);
  net::store(ip + 10, net::ChecksumSum{}.add({ip, 20}).checksum());
  net::store_be16(ip + 20, static_cast<std::uint16_t>(1024 + (flow & 0xff)));
  net::store_be16(ip + 22, 80);
  ip[32] = 0x50;
  ip[33] = flags;
  return frame;
}

struct Bench {
  explicit Bench(bool flow_table, std::size_t flow_entries)
      : flow_state(std::max<std::size_t>(flow_entries, 64), 1) {
    ports.size = 1;
    ports.ports[0].mac = mac;
    auto pool = std::make_shared<SnapshotPool>();
    pool->flow_table = flow_table;
    pool->outer_source = IpAddress::parse("10.0.0.2").value();
    pool->rows.resize(65537);
    for (std::size_t i = 0; i < pool->rows.size(); ++i) {
      const auto hop = [&](std::size_t n) { return static_cast<MemberIndex>((i + n) % 16); };
      pool->rows[i] = Row{{hop(0), hop(1), hop(2)}, 1};
    }
    for (std::uint32_t i = 0; i < 16; ++i) {
      SnapshotBackend backend;
      backend.address = IpAddress::parse("10.0.1." + std::to_string(i + 1)).value();
      backend.id = BackendId(i);
      backend.next_hop = next_hops.index_of(backend.address).value();
      next_hops.set(backend.next_hop, {NextHop::State::resolved, 0, mac});
      pool->backends.push_back(backend);
      snapshot.backends.push_back({pool.get(), static_cast<MemberIndex>(i)});
    }
    snapshot.services.push_back({"www", ServiceId(0), pool.get()});
    snapshot.pools.push_back(std::move(pool));
    const ServiceRule rule{IpAddress::parse("203.0.113.10").value(), 32, 6, {{80, 80}}, 0, false, 0};
    snapshot.lookup = ServiceTable::build({&rule, 1});
    rte_pktmbuf_alloc_bulk(memory().mbufs(), burst.packets.data(), burst_max);
  }
  ~Bench() { rte_pktmbuf_free_bulk(burst.packets.data(), burst_max); }

  // Fresh headers in the same mbufs, as a driver hands them out.
  void refill(std::uint32_t first_flow, std::uint32_t flows, std::uint8_t flags) {
    for (std::uint32_t i = 0; i < burst_max; ++i) {
      rte_mbuf* mbuf = burst.packets[i];
      mbuf->data_off = RTE_PKTMBUF_HEADROOM;
      mbuf->pkt_len = mbuf->data_len = frame_size;
      // A walk over all flows in steps that no prefetcher follows.
      const std::uint32_t flow =
          static_cast<std::uint32_t>(std::uint64_t{first_flow + i} * 2654435761U % flows);
      const std::uint32_t block = flow % blocks;
      std::memcpy(rte_pktmbuf_mtod(mbuf, void*), frames[block].data(), frame_size);
      net::store_be32(rte_pktmbuf_mtod_offset(mbuf, std::uint8_t*, 26), 0xc6000000U | flow);
      rte_pktmbuf_mtod(mbuf, std::uint8_t*)[47] = flags;
      mbuf->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD;  // the source address was changed behind the checksum
    }
    burst.size = burst_max;
    burst.port = 0;
  }
  void take_back() {
    Outbox& box = outputs->port[0];
    pipeline.sent(box, box.size, Verdict::drop_tx_full);
    Pipeline::done(*outputs);
  }

  static constexpr std::uint32_t blocks = 256;
  std::vector<std::array<std::uint8_t, frame_size>> frames = [] {
    std::vector<std::array<std::uint8_t, frame_size>> out;
    for (std::uint32_t i = 0; i < blocks; ++i) out.push_back(make_frame(i, 0x10));
    return out;
  }();
  PortTable ports;
  NextHops next_hops;
  WorkerCounters counters;
  FlowState flow_state;
  Snapshot snapshot;
  Burst burst;
  std::unique_ptr<Outputs> outputs = std::make_unique<Outputs>();
  Pipeline pipeline{{ports, next_hops, counters, flow_state, memory().mbufs(), {}}};
};

void count_packets(benchmark::State& state) {
  state.counters["ns/packet"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(burst_max),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void floor_refill(benchmark::State& state) {
  Bench bench(false, 64);
  std::uint32_t flow = 0;
  for (auto _ : state) {
    bench.refill(flow += burst_max, 1U << 20, 0x10);
    benchmark::ClobberMemory();
  }
  count_packets(state);
}

void pipeline(benchmark::State& state, bool flow_table) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  Bench bench(flow_table, flows * 5 / 4);
  bench.ports.ports[0].rx_ip_checksum = true;
  const auto run = [&](std::uint32_t first, std::uint8_t flags) {
    bench.refill(first, flows, flags);
    bench.pipeline.run(bench.burst, bench.snapshot, 1000, *bench.outputs);
    bench.take_back();
  };
  if (flow_table)
    for (std::uint32_t flow = 0; flow < flows; flow += burst_max) run(flow, 0x02);
  std::uint32_t flow = 0;
  for (auto _ : state) run(flow += burst_max, 0x10);
  if (bench.counters.verdicts.packets[0].get() != bench.counters.verdicts.packets_in.get())
    state.SkipWithError("not every packet was forwarded");
  count_packets(state);
}

void lookup(benchmark::State& state) {
  const auto flows = static_cast<std::uint64_t>(state.range(0));
  FlowTable table(flows * 5 / 4);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> hashes(flows);
  for (auto& hash : hashes) {
    hash = random();
    table.insert(hash, BackendId(1), FlowClass::established, 0, 900'000);
  }
  std::size_t at = 0;
  for (auto _ : state) {
    const std::uint64_t* burst = &hashes[at];
    for (std::size_t i = 0; i < burst_max; ++i) table.prefetch(burst[i]);
    for (std::size_t i = 0; i < burst_max; ++i) benchmark::DoNotOptimize(table.find_entry(burst[i], 0));
    at = (at + burst_max) % (flows - burst_max);
  }
  count_packets(state);
}

BENCHMARK(floor_refill)->Name("Floor/refill/burst32");
BENCHMARK_CAPTURE(pipeline, stateless, false)->Name("Pipeline/gue_v4_stateless/burst32")->Arg(1 << 20);
BENCHMARK_CAPTURE(pipeline, tracked, true)
    ->Name("Pipeline/gue_v4_flow_hit/burst32")
    ->Arg(1 << 10)
    ->Arg(1 << 20);
BENCHMARK(lookup)->Name("Lookup/flow_hit")->Arg(1 << 10)->Arg(1 << 20);

}  // namespace
}  // namespace guideway

BENCHMARK_MAIN();
