#include "io/worker.h"

#include <rte_ethdev.h>
#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <thread>

namespace guideway {

Worker::Worker(WorkerParts parts, WorkerCounters& counters, FlowState& flows,
               std::span<const FlowState* const> peers)
    : parts_(std::move(parts)),
      counters_(counters),
      flows_(flows.table),
      pipeline_({parts_.table, parts_.next_hops, counters, flows, parts_.mbufs, peers}),
      idle_(parts_.polling) {}

void Worker::run(const std::atomic<bool>& stop) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel adds 50 us to every sleep
  parts_.publisher.join(parts_.index);
  while (!stop.load(std::memory_order_relaxed)) {
    const bool found_any = poll();
    parts_.publisher.quiescent(parts_.index);
    if (const auto pause = idle_.after(found_any); pause.count() > 0) sleep(pause);
  }
  parts_.publisher.leave(parts_.index);
}

void Worker::drain() {
  pipeline_.finish();
  const auto empty = [this](Transmitter& tx) {
    while (tx.drain()) {
    }
    counters_.verdicts.left_behind.add(tx.clear());
  };
  for (auto& link : parts_.links) {
    empty(link.tx);
    if (link.twin_tx) empty(*link.twin_tx);
  }
}

bool Worker::poll() {
  const Snapshot* snapshot = parts_.publisher.current();
  if (snapshot == nullptr) return false;  // nothing is received before the first version is there
  const std::uint32_t now_ms = parts_.clock.now_ms();
  bool found_any = false;
  for (auto& link : parts_.links) {
    found_any |= receive(link, *snapshot, now_ms);
    found_any |= receive_from_kernel(link);
    found_any |= link.tx.drain();
    if (link.twin_tx) found_any |= link.twin_tx->drain();
  }
  found_any |= readmit(*snapshot, now_ms);
  found_any |= purge_.work(flows_, now_ms, [&](BackendId backend) {
    BackendMarks::set(counters_.marks(backend).refused_ms, now_ms);
  });
  // Expired flows go when there is time, and under load a few every now and then.
  constexpr unsigned rounds_between_sweeps = 64;
  if (!found_any || ++rounds_ % rounds_between_sweeps == 0) pipeline_.idle(now_ms);
  if (!found_any) counters_.verdicts.polls_idle.add(1);
  return found_any;
}

bool Worker::receive(const PortLink& link, const Snapshot& snapshot, std::uint32_t now_ms) {
  bool found_any = false;
  for (const auto queue : link.rx) {
    const auto count = rte_eth_rx_burst(queue.dpdk_port, queue.queue, burst_.packets.data(),
                                        static_cast<std::uint16_t>(burst_max));
    if (count == 0) continue;
    found_any = true;
    counters_.verdicts.bursts.add(1);
    burst_.size = count;
    burst_.port = link.port;
    burst_.truncated = 0;
    pipeline_.run(burst_, snapshot, now_ms, outputs_);
    send();
  }
  return found_any;
}

bool Worker::readmit(const Snapshot& snapshot, std::uint32_t now_ms) {
  bool found_any = false;
  while (pipeline_.readmit(burst_, now_ms)) {
    found_any = true;
    pipeline_.run(burst_, snapshot, now_ms, outputs_);
    send();
  }
  return found_any;
}

void Worker::send() {
  for (auto left = outputs_.to_ports; left != 0; left &= left - 1) {
    const auto port = static_cast<std::size_t>(std::countr_zero(left));
    auto& box = outputs_.port[port];
    pipeline_.sent(box, parts_.links[port].tx.send(box.frames.data(), box.size), Verdict::drop_tx_full);
  }
  for (auto left = outputs_.to_kernel; left != 0; left &= left - 1) {
    const auto port = static_cast<std::size_t>(std::countr_zero(left));
    send_to_kernel(parts_.links[port], outputs_.kernel[port]);
  }
  Pipeline::done(outputs_);
}

void Worker::send_to_kernel(PortLink& link, Outbox& box) {
  std::uint16_t sent = box.size;
  if (link.twin_tx) {
    const auto allowed = std::min(box.size, kernel_burst_max);
    to_twin(box.frames.data(), allowed, link.vlan);
    sent = link.twin_tx->send(box.frames.data(), allowed);
  } else {
    rte_pktmbuf_free_bulk(box.frames.data(), box.size);
  }
  pipeline_.sent(box, sent, Verdict::drop_kernel_full);
}

bool Worker::receive_from_kernel(PortLink& link) {
  bool found_any = false;
  for (const auto queue : link.twin_rx) {
    std::array<rte_mbuf*, kernel_burst_max> frames;
    const auto received = rte_eth_rx_burst(queue.dpdk_port, queue.queue, frames.data(), kernel_burst_max);
    if (received == 0) continue;
    found_any = true;
    const auto count = from_twin(frames.data(), received, link.vlan);
    const auto sent = link.tx.send(frames.data(), count);
    if (sent < count) rte_pktmbuf_free_bulk(frames.data() + sent, static_cast<unsigned>(count - sent));
    counters_.verdicts.host_frames.add(sent);
    counters_.verdicts.host_frames_lost.add(static_cast<unsigned>(received - sent));
  }
  return found_any;
}

void Worker::sleep(std::chrono::microseconds time) {
  parts_.publisher.offline(parts_.index);
  std::this_thread::sleep_for(time);
  parts_.publisher.online(parts_.index);
}

}  // namespace guideway
