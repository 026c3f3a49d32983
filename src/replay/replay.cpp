#include "replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace guideway {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

FlowTuple tuple_of(const Packet& packet, const KeyBytes& key) {
  FlowTuple tuple;
  const std::size_t size = packet.family == Family::ipv4 ? 4 : 16;
  tuple.source.family = tuple.destination.family = packet.family;
  std::copy_n(key.bytes.begin(), size, tuple.source.bytes.begin());
  std::copy_n(key.bytes.begin() + static_cast<std::ptrdiff_t>(size), size, tuple.destination.bytes.begin());
  tuple.source_port = packet.source_port;
  tuple.destination_port = packet.destination_port;
  tuple.protocol = packet.protocol;
  return tuple;
}

class Run {
 public:
  Run(const ReplayParts& parts, std::vector<AtCommand> at) : parts_(parts), at_(std::move(at)) {
    std::ranges::stable_sort(at_, {}, &AtCommand::packet);
  }

  Result<ReplayResult> run() {
    result_.epochs.push_back({0, parts_.director.store().current().epoch, {}});
    for (;;) {
      auto frame = parts_.capture.next();
      if (!frame) return stop(frame.error());
      if (!*frame) break;
      if (auto taken = take(**frame); !taken) return stop(taken.error());
    }
    flush();
    while (next_command_ < at_.size()) result_.not_reached.push_back(at_[next_command_++]);
    return std::move(result_);
  }

 private:
  Result<void> take(const CapturedFrame& frame) {
    if (result_.packets == 0) result_.first = result_.last = frame.time;
    // Captures of several queues go back in time a little; the director's clock does not.
    result_.last = std::max(result_.last, frame.time);
    const milliseconds now = duration_cast<milliseconds>(result_.last - result_.first);
    if (burst_.size == burst_max || now != now_) flush();
    now_ = now;
    if (auto done = act_before(result_.packets); !done) return done;

    rte_mbuf* mbuf = parts_.make_mbuf(frame.bytes);
    if (mbuf == nullptr)
      return fail(ErrorKind::internal, fmt::format("packet {} found no memory", result_.packets), "replay",
                  "please report this with the capture");
    numbers_[burst_.size] = result_.packets;
    // Stays with a packet that is held.
    mbuf->hash.usr = static_cast<std::uint32_t>(result_.packets);
    times_[burst_.size] = frame.time;
    if (frame.truncated) burst_.truncated |= 1U << burst_.size;
    burst_.packets[burst_.size++] = mbuf;
    ++result_.packets;
    return {};
  }

  Result<void> act_before(std::uint64_t packet) {
    for (; next_command_ < at_.size() && at_[next_command_].packet <= packet; ++next_command_) {
      flush();
      const AtCommand& command = at_[next_command_];
      if (auto done = parts_.run_command(command.line, now_); !done) {
        Error error = done.error();
        error.where = fmt::format("--at {}:{}", command.packet, command.line) +
                      (error.where.empty() ? "" : ": " + error.where);
        return tl::unexpected(error);
      }
      parts_.audit.set_down(parts_.director.down_backends());
      result_.epochs.push_back({packet, parts_.director.store().current().epoch, command.line});
    }
    return {};
  }

  void flush() {
    if (burst_.size == 0) return;
    run_burst();
    while (parts_.director.readmit(burst_, now_ms())) {
      for (std::size_t i = 0; i < burst_.size; ++i) {
        numbers_[i] = burst_.packets[i]->hash.usr;
        times_[i] = result_.last;
      }
      run_burst();
    }
    burst_.size = 0;
    burst_.truncated = 0;
  }

  void run_burst() {
    parts_.director.run(burst_, now_ms(), *outputs_);
    for (std::size_t i = 0; i < burst_.size; ++i) audit(i);
    send();
  }

  [[nodiscard]] std::uint32_t now_ms() const { return static_cast<std::uint32_t>(now_.count()); }

  void audit(std::size_t i) {
    const Packet& packet = burst_.parsed[i];
    if (packet.kind != PacketKind::tcp && packet.kind != PacketKind::udp) return;
    const FlowTuple tuple = tuple_of(packet, burst_.key[i]);
    const Fate fate = fate_of(burst_.verdict[i]);
    const bool to_backend = fate == Fate::reaches_a_backend;
    if (to_backend && packet.kind == PacketKind::tcp && tcp_.insert(tuple).second) ++result_.flows_tcp;
    if (to_backend && packet.kind == PacketKind::udp && udp_.insert(tuple).second) ++result_.flows_udp;
    if (packet.kind != PacketKind::tcp) return;
    const std::uint64_t number = numbers_[i];
    if (fate == Fate::reaches_no_backend) parts_.audit.lost(tuple, is_syn(packet), number);
    if (!to_backend) return;
    std::array<BackendId, 3> hops{};
    const HopList& list = burst_.hops[i];
    for (std::size_t hop = 0; hop < list.count(); ++hop)
      hops[hop] = burst_.pool[i]->backends[list.slot(hop)].id;
    parts_.audit.forwarded(tuple, is_syn(packet), number, {hops.data(), list.count()});
  }

  // Frames in the order of the packets that they were made from, whichever port they leave by.
  void send() {
    struct Frame {
      std::uint8_t origin;
      rte_mbuf* mbuf;
    };
    std::vector<Frame> frames;
    for (Outbox& box : outputs_->port)
      for (std::size_t i = 0; i < box.size; ++i) frames.push_back({box.origin[i], box.frames[i]});
    std::ranges::stable_sort(frames, {}, &Frame::origin);
    for (const Frame& frame : frames) write(frame.mbuf, times_[frame.origin]);
    for (auto* boxes : {&outputs_->port, &outputs_->kernel}) {
      for (Outbox& box : *boxes) {
        if (box.size == 0) continue;
        rte_pktmbuf_free_bulk(box.frames.data(), box.size);
        parts_.director.sent(box);
      }
    }
    Pipeline::done(*outputs_);
  }

  void write(const rte_mbuf* mbuf, CaptureTime time) {
    if (parts_.out == nullptr) return;
    bytes_.resize(mbuf->pkt_len);
    const auto* at =
        static_cast<const std::uint8_t*>(rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, bytes_.data()));
    parts_.out->write({at, mbuf->pkt_len}, time);
  }

  // Gives back what waits for its burst.
  tl::unexpected<Error> stop(const Error& error) {
    rte_pktmbuf_free_bulk(burst_.packets.data(), burst_.size);
    burst_.size = 0;
    return tl::unexpected(error);
  }

  const ReplayParts& parts_;
  std::vector<AtCommand> at_;
  std::size_t next_command_ = 0;
  ReplayResult result_;
  milliseconds now_{0};
  std::array<std::uint64_t, burst_max> numbers_{};
  std::array<CaptureTime, burst_max> times_{};
  std::vector<std::uint8_t> bytes_;
  std::set<FlowTuple> tcp_, udp_;
  Burst burst_;
  std::unique_ptr<Outputs> outputs_ = std::make_unique<Outputs>();
};

}  // namespace

Result<ReplayResult> replay(const ReplayParts& parts, std::vector<AtCommand> at) {
  return Run(parts, std::move(at)).run();
}

}  // namespace guideway
