// What a TIME_WAIT socket gets: packets of the connection it remembers, and none of a newer one with the same ports.
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "receive_fixture.h"

namespace guideway::agent::test {
namespace {

constexpr std::uint32_t reach_min = 65536;  // bytes before the end that still count as the old connection's

struct Ends {
  bool v6;
  std::string from, to;
  std::uint8_t inside;
};
const std::vector<Ends> both_families = {{false, client, service, ipip}, {true, client6, service6, v6_in_ip}};

// A connection that the service closed first; whole: the client closed it too.
struct Closed {
  Connection connection;
  std::uint32_t theirs, ours;  // the sequence numbers that come next
};
Closed close_service(Connection open, bool whole) {
  const Numbers numbers = numbers_of(open.client);
  Closed out{std::move(open), numbers.sent, numbers.received + 1};
  out.connection.server = Fd();
  char byte = 0;
  EXPECT_EQ(::recv(out.connection.client.get(), &byte, 1, 0), 0);
  if (!whole) return out;
  out.connection.client = Fd();
  ++out.theirs;
  return out;
}

struct Segment {
  std::string description;
  std::uint8_t flags;
  std::uint32_t sequence, acknowledged;  // from Closed::theirs and Closed::ours on; they wrap
  bool is_old;
  std::size_t bytes = 0;
};

constexpr std::uint32_t minus(std::uint32_t n) { return 0u - n; }

const std::vector<Segment> in_both = {
    {"a keep-alive", ack, minus(1), 0, true},
    {"an ACK sent again", ack, 0, 0, true},
    {"data sent again", psh | ack, minus(100), 0, true, 100},
    {"an ACK that was long on its way", ack, minus(1400), minus(1400), true},
    {"a RST in the right place", rst, 0, 0, true},
    {"a RST with ACK", rst | ack, 0, 0, true},
    {"the farthest sequence number", ack, minus(reach_min), 0, true},
    {"a sequence number too far back", ack, minus(reach_min + 1), 0, false},
    {"the farthest acknowledgement", ack, 0, minus(reach_min), true},
    {"an acknowledgement too far back", ack, 0, minus(reach_min + 1), false},
    {"an acknowledgement of what was never sent", ack, 0, 1, false},
    {"a new connection", psh | ack, 1u << 24, 0x9abcdef0, false, 10},
    {"a new connection's ACK that fits by chance", ack, 1u << 24, 0, false},
    {"a new connection's sequence number that fits by chance", ack, minus(1000), 1u << 30, false},
    {"a new connection's FIN", fin | ack, 1u << 24, 0x9abcdef0, false},
    {"a new connection's RST", rst, 1u << 24, 0, false},
    {"half of the sequence space away", ack, 1u << 31, 0, false},
};
const std::vector<Segment> in_time_wait = {
    {"a FIN sent again", fin | ack, minus(1), 0, true},
    {"data and FIN sent again", fin | ack, minus(101), 0, true, 100},
    {"a byte behind the FIN", ack, 1, 0, false},
    {"a RST behind the FIN", rst, 1, 0, false},
};
const std::vector<Segment> in_fin_wait = {
    {"the FIN", fin | ack, 0, 0, true},
    {"data that the service does not take any more", psh | ack, 0, 0, true, 100},
    {"more of it", psh | ack, 1000, 0, true, 100},
    {"a RST behind data that was lost", rst, 1000, 0, true},
    {"new data in the window, of another connection", psh | ack, 1000, 0x9abcdef0, false, 10},
};

class TimeWaitTest : public ReceiveTest {
 protected:
  Bytes packet(const Ends& ends, const Closed& closed, const Segment& segment) {
    return ip({ends.from, ends.to, tcp_}, tcp(closed.connection.client_port, closed.connection.service_port,
                                              segment.flags, closed.theirs + segment.sequence,
                                              closed.ours + segment.acknowledged, Bytes(segment.bytes)));
  }

  // The socket changes its kind when the last ACK comes in.
  void await_time_wait(const Ends& ends, const Closed& closed) {
    Outcome outcome;
    const Bytes frame = to4({ends.inside, {peer}}, packet(ends, closed, {"", ack, 0, 0, true}));
    for (int i = 0; i < 200 && counted(frame, &outcome) != "deliver_time_wait"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  void check_segments(const Ends& ends, const Closed& closed, const std::vector<Segment>& segments) {
    const Gue asks{ends.inside, {peer}}, last{ends.inside, {peer}, 1};
    for (const Segment& segment : segments) {
      const std::string what = segment.description + (ends.v6 ? ", IPv6" : ", IPv4");
      const Bytes inner = packet(ends, closed, segment);
      const bool taken = segment.is_old || program_->kind() != GW_KERNEL_TYPED;
      const auto before = maps_->counters().of_time_wait_alien;
      check({{what, to4(asks, inner), taken ? "deliver_time_wait" : "forward_tcp",
              taken ? ethernet(inner) : to4(last, inner, {self, peer, udp_})},
             {what + ", last hop", to4(last, inner), "deliver_no_hop", ethernet(inner)}});
      EXPECT_EQ(maps_->counters().of_time_wait_alien - before, taken ? 0u : 1u) << what;
    }
  }
};

TEST_P(TimeWaitTest, WhenBothSidesHaveClosed) {
  for (const Ends& ends : both_families) {
    const Closed closed = close_service(connect_to(ends.to, 8081, ends.from), true);
    await_time_wait(ends, closed);
    check_segments(ends, closed, in_both);
    check_segments(ends, closed, in_time_wait);
  }
}

TEST_P(TimeWaitTest, WhenOnlyTheServiceHasClosed) {
  for (const Ends& ends : both_families) {
    const Closed closed = close_service(connect_to(ends.to, 8082, ends.from), false);
    await_time_wait(ends, closed);
    check_segments(ends, closed, in_both);
    check_segments(ends, closed, in_fin_wait);
  }
}

// A fast client had more on its way than the least window.
TEST_P(TimeWaitTest, ReachesBackAsFarAsTheConnectionsWindow) {
  for (const Ends& ends : both_families) {
    Connection open = connect_to(ends.to, 8083, ends.from);
    Bytes data(65536);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(::send(open.client.get(), data.data(), data.size(), 0), std::ssize(data));
      ASSERT_EQ(::recv(open.server.get(), data.data(), data.size(), MSG_WAITALL), std::ssize(data));
    }
    const std::uint32_t window = numbers_of(open.client).window;
    ASSERT_GT(window, 3 * reach_min);
    const Closed closed = close_service(std::move(open), true);
    await_time_wait(ends, closed);
    check_segments(ends, closed,
                   {{"two least windows back", ack, minus(2 * reach_min), minus(2 * reach_min), true},
                    {"beyond the window", ack, minus(8 * window), 0, false},
                    {"a byte behind the FIN", ack, 1, 0, false}});
  }
}

// The kernel makes nothing of an error about a closed connection; a newer one elsewhere may need it.
TEST_P(TimeWaitTest, ErrorsGoOn) {
  for (const Ends& ends : both_families) {
    const Closed closed = close_service(connect_to(ends.to, 8084, ends.from), true);
    await_time_wait(ends, closed);
    const Bytes quote = ip({ends.to, ends.from, tcp_}, tcp(closed.connection.service_port,
                                                           closed.connection.client_port, ack, closed.ours));
    const Bytes error = ip({ends.from, ends.to, ends.v6 ? icmp6 : icmp},
                           hex(ends.v6 ? "0200 0000 0000 0514" : "0304 0000 0000 0514") + quote);
    const Gue asks{ends.inside, {peer}}, last{ends.inside, {peer}, 1};
    check({{"an error", to4(asks, error), "forward_icmp_error", to4(last, error, {self, peer, udp_})}});
  }
}

INSTANTIATE_TEST_SUITE_P(Objects, TimeWaitTest, testing::Values(true, false), object_name);

}  // namespace
}  // namespace guideway::agent::test
