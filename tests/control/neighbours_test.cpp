// Neighbours against a real kernel: a director's namespace with two ports, hosts and a router behind them.
// Not without root: network namespaces, and ARP and ND on veth pairs.

#include "control/neighbours.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

namespace guideway {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }

constexpr MacAddress mac_a = {2, 0, 0, 0, 0, 0xa}, mac_a2 = {2, 0, 0, 0, 0, 0x2a},
                     mac_b = {2, 0, 0, 0, 0, 0xb};

// director --wan-- A (10.1.0.2, fd01::2; routes 10.9.0.0/24)      director --lan-- B (10.2.0.2; 10.9.0.0/24 too)
class Lab {
 public:
  Lab() : home_(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    for (const auto& name : {director, a, b}) {
      run("ip netns add " + name);
      in(name, "ip link set lo up");
      in(name, "sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0");
    }
    join("wan", a, "02:00:00:00:00:0a");
    join("lan", b, "02:00:00:00:00:0b");
    in(director, "ip address add 10.1.0.1/24 dev wan");
    in(director, "ip address add fd01::1/64 dev wan nodad");
    in(director, "ip address add 10.2.0.1/24 dev lan");
    in(a, "ip address add 10.1.0.2/24 dev eth");
    in(a, "ip address add 10.1.0.3/24 dev eth");
    in(a, "ip address add fd01::2/64 dev eth nodad");
    in(b, "ip address add 10.2.0.2/24 dev eth");
    enter(director);
  }
  ~Lab() {
    if (setns(home_, CLONE_NEWNET) != 0) std::abort();
    close(home_);
    for (const auto& name : {director, a, b}) run("ip netns del " + name);
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  static void in(const std::string& name, const std::string& command) {
    run("ip netns exec " + name + " " + command);
  }
  static void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

  // What the namespace says to a command.
  static std::string ask(const std::string& name, const std::string& command) {
    FILE* pipe = popen(("ip netns exec " + name + " " + command).c_str(), "r");
    std::string out;
    for (int c = 0; pipe != nullptr && (c = fgetc(pipe)) != EOF;) out.push_back(static_cast<char>(c));
    if (pipe != nullptr) pclose(pipe);
    return out;
  }

  const std::string director = fmt::format("gw-neigh-d{}", getpid());
  const std::string a = fmt::format("gw-neigh-a{}", getpid());
  const std::string b = fmt::format("gw-neigh-b{}", getpid());

 private:
  void join(const std::string& port, const std::string& peer, const std::string& mac) const {
    run(fmt::format("ip -n {} link add {} type veth peer name eth netns {} address {}", director, port, peer,
                    mac));
    run(fmt::format("ip -n {} link set {} up", director, port));
    // Silence is found out in 0.3 s instead of 3.
    in(director,
       fmt::format("sysctl -qw net.ipv4.neigh.{0}.retrans_time_ms=100 net.ipv6.neigh.{0}.retrans_time_ms=100",
                   port));
    run(fmt::format("ip -n {} link set eth up", peer));
  }
  static void enter(const std::string& name) {
    const int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(setns(fd, CLONE_NEWNET), 0);
    close(fd);
  }
  int home_;
};

class NeighboursTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for network namespaces";
    lab_.emplace();
  }

  void start(std::vector<NeighbourPort> ports, NeighbourOptions options = {}) {
    auto started = Neighbours::start(
        std::move(ports), cells_,
        [this](std::span<const LinkState> changes) {
          const std::lock_guard lock(mutex_);
          link_changes_.insert(link_changes_.end(), changes.begin(), changes.end());
        },
        options);
    ASSERT_TRUE(started) << started.error().text();
    neighbours_ = std::move(*started);
  }
  void start_both(NeighbourOptions options = {}) { start({wan_, lan_}, options); }

  void watch(const std::vector<std::string>& texts) {
    std::vector<IpAddress> backends;
    for (const auto& text : texts) backends.push_back(address(text));
    neighbours_->set_backends(backends);
    ASSERT_TRUE(neighbours_->wait_settled(5s));
  }

  NextHop cell(std::string_view text) { return cells_.get(cells_.index_of(address(text)).value()); }
  std::string via(std::string_view text) const {
    for (const auto& report : neighbours_->reports())
      if (report.address == text) return report.via;
    return "not reported";
  }
  // How long until the cell is as wanted; a failure after `limit`.
  Clock::duration until(std::string_view text, NextHop wanted, Clock::duration limit = 5s) {
    const auto begin = Clock::now();
    while (cell(text) != wanted) {
      if (Clock::now() - begin > limit) {
        ADD_FAILURE() << text << ": state " << static_cast<int>(cell(text).state) << " port "
                      << int{cell(text).port} << ", " << via(text);
        break;
      }
      std::this_thread::sleep_for(200us);
    }
    return Clock::now() - begin;
  }
  // The changes told since the last call, once there are as many as that.
  std::vector<LinkState> link_changes(std::size_t count) {
    const auto limit = Clock::now() + 1s;
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (link_changes_.size() >= count || Clock::now() > limit) return std::exchange(link_changes_, {});
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  static constexpr auto resolved = NextHop::State::resolved;
  const NeighbourPort wan_{
      .name = "wan", .port = 0, .kernel_interface = "wan", .device_interface = "wan", .mac = {}};
  const NeighbourPort lan_{
      .name = "lan", .port = 1, .kernel_interface = "lan", .device_interface = "lan", .mac = {}};
  std::optional<Lab> lab_;
  NextHops cells_;
  std::mutex mutex_;
  std::vector<LinkState> link_changes_;
  std::unique_ptr<Neighbours> neighbours_;
};

TEST_F(NeighboursTest, FindsBackendsOnLinkInBothFamiliesAndBehindARouter) {
  lab_->in(lab_->director, "ip route add 10.9.0.0/24 via 10.1.0.2");
  lab_->in(lab_->director, "ip route add 10.8.0.0/24 via inet6 fd01::2");
  lab_->in(lab_->director, "ip route add fd09::/64 via fd01::2");
  start_both();
  watch({"10.1.0.2", "fd01::2", "10.2.0.2", "10.9.0.7", "10.8.0.7", "fd09::7"});
  const struct {
    const char *address, *via;
    std::uint8_t port;
    MacAddress mac;
  } cases[] = {
      {"10.1.0.2", "port wan, on-link", 0, mac_a},   {"fd01::2", "port wan, on-link", 0, mac_a},
      {"10.2.0.2", "port lan, on-link", 1, mac_b},   {"10.9.0.7", "port wan by 10.1.0.2", 0, mac_a},
      {"10.8.0.7", "port wan by fd01::2", 0, mac_a}, {"fd09::7", "port wan by fd01::2", 0, mac_a},
  };
  for (const auto& c : cases) {
    const bool behind_router = std::string_view(c.via).find(" by ") != std::string_view::npos;
    EXPECT_EQ(cell(c.address), (NextHop{resolved, c.port, c.mac, behind_router})) << c.address;
    EXPECT_EQ(via(c.address), c.via);
  }
  EXPECT_THAT(link_changes(2), testing::UnorderedElementsAre(LinkState{0, true}, LinkState{1, true}));
}

TEST_F(NeighboursTest, ABackendThatCannotBeReachedSaysWhy) {
  lab_->in(lab_->director, "ip link add other type veth peer name other1");
  lab_->in(lab_->director, "ip link set other up");
  lab_->in(lab_->director, "ip link set other1 up");
  lab_->in(lab_->director, "ip address add 10.7.0.1/24 dev other");
  lab_->in(lab_->director, "ip route add blackhole 10.6.0.0/24");
  start_both();
  watch({"10.1.0.99", "10.5.0.1", "10.6.0.1", "10.7.0.2", "10.1.0.1", "fd05::1"});
  EXPECT_THAT(via("10.1.0.99"), HasSubstr("10.1.0.99 does not answer on wan"));
  EXPECT_THAT(via("10.5.0.1"), HasSubstr("no route to 10.5.0.1: Network is unreachable; add a route"));
  EXPECT_THAT(via("10.6.0.1"), HasSubstr("no route to 10.6.0.1"));
  EXPECT_THAT(via("10.7.0.2"),
              HasSubstr("leaves by other, which belongs to no port; route it by wan or lan"));
  EXPECT_THAT(via("10.1.0.1"), HasSubstr("an address of this host itself"));
  EXPECT_THAT(via("fd05::1"), HasSubstr("no route to fd05::1"));
  for (const auto& report : neighbours_->reports())
    EXPECT_EQ(report.next_hop.state, NextHop::State::unresolved) << report.address;
}

TEST_F(NeighboursTest, ASilentBackendIsFoundOnceItAnswers) {
  start_both();
  watch({"10.1.0.50"});
  EXPECT_EQ(cell("10.1.0.50").state, NextHop::State::unresolved);
  lab_->in(lab_->a, "ip address add 10.1.0.50/24 dev eth");
  until("10.1.0.50", {resolved, 0, mac_a}, 8s);
}

// What acts within the test's patience although nothing is looked after for an hour acts by the kernel's word.
constexpr NeighbourOptions by_events_alone{.confirm_interval = 1h, .retry_interval = 1h};

TEST_F(NeighboursTest, AnAnnouncedMacActsAtOnce) {
  start_both(by_events_alone);
  watch({"10.1.0.2"});
  for (std::uint8_t last = 0x20; last < 0x25; ++last) {
    lab_->in(lab_->director,
             fmt::format("ip neighbour replace 10.1.0.2 lladdr 02:00:00:00:00:{:02x} dev wan nud reachable",
                         last));
    until("10.1.0.2", {resolved, 0, {2, 0, 0, 0, 0, last}});
  }
}

TEST_F(NeighboursTest, AMacThatChangesSilentlyIsFoundByTheConfirmation) {
  for (const bool managed : {true, false}) {
    SCOPED_TRACE(managed);
    lab_->in(lab_->a, "ip link set eth address 02:00:00:00:00:0a");
    lab_->in(lab_->director, "ip neighbour flush dev wan");
    start_both({.confirm_interval = 300ms, .retry_interval = 1s, .managed = managed});
    watch({"10.1.0.2"});
    EXPECT_EQ(cell("10.1.0.2").mac, mac_a);
    lab_->in(lab_->a, "ip link set eth address 02:00:00:00:00:2a");
    until("10.1.0.2", {resolved, 0, mac_a2}, 10s);
    neighbours_.reset();
  }
}

// The bound of the README, in both families. The interface's own patience (three probes, a second each) is the kernel's
// default here: nothing waits for it.
TEST_F(NeighboursTest, AMacThatChangesSilentlyIsFoundWithinTwoSeconds) {
  lab_->in(lab_->director,
           "sysctl -qw net.ipv4.neigh.wan.retrans_time_ms=1000 net.ipv6.neigh.wan.retrans_time_ms=1000");
  for (const bool managed : {true, false}) {
    lab_->in(lab_->a, "ip link set eth address 02:00:00:00:00:0a");
    lab_->in(lab_->director, "ip neighbour flush dev wan");
    start_both({.managed = managed});
    watch({"10.1.0.2", "fd01::2"});
    for (const auto last : std::to_array<std::uint8_t>({0x2a, 0x2b, 0x2c})) {
      SCOPED_TRACE(fmt::format("managed {}, to {:02x}", managed, last));
      std::this_thread::sleep_for(
          std::chrono::milliseconds(137 * (last - 0x29)));  // anywhere between two confirmations
      ASSERT_EQ(cell("10.1.0.2").state, resolved);
      const auto begin = Clock::now();
      lab_->in(lab_->a, fmt::format("ip link set eth address 02:00:00:00:00:{:02x}", last));
      for (const char* backend : {"10.1.0.2", "fd01::2"}) {
        for (; cell(backend).mac.back() != last && Clock::now() - begin < 8s;
             std::this_thread::sleep_for(1ms))
          EXPECT_EQ(cell(backend).state, resolved) << "the old MAC stays in use meanwhile";
        EXPECT_EQ(cell(backend), (NextHop{resolved, 0, {2, 0, 0, 0, 0, last}})) << backend;
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
        EXPECT_LT(took, 2s) << backend;
        RecordProperty(fmt::format("{}_{}_{:02x}_ms", backend, managed ? "managed" : "asked", last),
                       std::to_string(took.count()));
      }
    }
    neighbours_.reset();
  }
}

TEST_F(NeighboursTest, ANeighbourThatAnswersKeepsItsEntry) {
  start_both({.confirm_interval = 50ms, .answer_limit = 200ms});
  watch({"10.1.0.2"});
  const std::string log = fmt::format("/tmp/gw-neigh-monitor-{}", getpid());
  lab_->in(lab_->director, "timeout 2 ip monitor neigh dev wan > " + log + " || true");
  std::ifstream file(log);
  std::string line, all;
  for (; std::getline(file, line); all += line + "\n")
    EXPECT_THAT(line, Not(HasSubstr("eleted"))) << "it was forgotten although it answers";
  EXPECT_THAT(all, HasSubstr("REACHABLE"));
  unlink(log.c_str());
}

TEST_F(NeighboursTest, AFlushedEntryIsAskedForAgainAndCostsNothing) {
  start_both();
  watch({"10.1.0.2"});
  for (int i = 0; i < 5; ++i) {
    lab_->in(lab_->director, "ip neighbour flush dev wan");
    for (int poll = 0; poll < 30; ++poll) {
      ASSERT_EQ(cell("10.1.0.2"), (NextHop{resolved, 0, mac_a}));
      std::this_thread::sleep_for(2ms);
    }
  }
  EXPECT_THAT(lab_->ask(lab_->director, "ip neighbour show 10.1.0.2"), HasSubstr("02:00:00:00:00:0a"));
}

TEST_F(NeighboursTest, EntriesAreManagedWhileInUseOnly) {
  const auto shown = [&] { return lab_->ask(lab_->director, "ip -d neighbour show 10.1.0.2"); };
  start_both();
  watch({"10.1.0.2"});
  if (shown().find("managed") == std::string::npos)
    GTEST_SKIP() << "kernel before 5.16, or an older iproute2";
  watch({"10.2.0.2"});
  EXPECT_THAT(shown(), Not(HasSubstr("managed")));
  watch({"10.1.0.2", "10.2.0.2"});
  EXPECT_THAT(shown(), HasSubstr("managed"));
  neighbours_.reset();
  EXPECT_THAT(shown(), Not(HasSubstr("managed")));
}

TEST_F(NeighboursTest, APermanentEntryIsUsedAndLeftAlone) {
  lab_->in(lab_->director, "ip neighbour add 10.1.0.77 lladdr 02:00:00:00:00:77 dev wan nud permanent");
  start_both({.confirm_interval = 20ms});
  watch({"10.1.0.77"});
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(cell("10.1.0.77"), (NextHop{resolved, 0, {2, 0, 0, 0, 0, 0x77}}));
  neighbours_.reset();
  EXPECT_THAT(lab_->ask(lab_->director, "ip neighbour show 10.1.0.77"), HasSubstr("PERMANENT"));
}

TEST_F(NeighboursTest, AStaleEntryStaysUsableAndAFailedOneDoesNot) {
  start_both({.confirm_interval = 60s, .retry_interval = 60s});
  watch({"10.1.0.3"});
  lab_->in(lab_->director, "ip neighbour change 10.1.0.3 dev wan nud stale");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(cell("10.1.0.3"), (NextHop{resolved, 0, mac_a}));
  lab_->in(lab_->a, "ip address del 10.1.0.3/24 dev eth");
  lab_->in(lab_->director, "ip neighbour change 10.1.0.3 dev wan nud probe");
  until("10.1.0.3", {NextHop::State::unresolved, 0, {}}, 8s);
}

TEST_F(NeighboursTest, ALinkFlapTakesThePortDownAndUp) {
  lab_->in(lab_->director, "ip route add 10.9.0.0/24 via 10.1.0.2");
  start_both();
  watch({"10.1.0.2", "10.9.0.7", "10.2.0.2"});
  link_changes(2);
  const struct {
    const char *down, *up;
    std::string where;
    bool keeps_route;
  } cases[] = {
      {"ip link set eth down", "ip link set eth up", lab_->a, true},          // the carrier
      {"ip link set wan down", "ip link set wan up", lab_->director, false},  // the host's own decision
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.down);
    lab_->in(c.where, c.down);
    const NextHop down{NextHop::State::port_down, 0, c.keeps_route ? mac_a : MacAddress{}};
    until("10.1.0.2", down, 3s);  // the kernel tells of a carrier once a second at most
    until("10.9.0.7", down, 3s);  // cells change one after the other
    EXPECT_EQ(cell("10.2.0.2"), (NextHop{resolved, 1, mac_b})) << "the other port goes on";
    EXPECT_THAT(via("10.1.0.2"), HasSubstr("the link of port wan is down"));
    EXPECT_THAT(link_changes(1), testing::ElementsAre(LinkState{0, false}));
    lab_->in(c.where, c.up);
    if (!c.keeps_route) lab_->in(lab_->director, "ip route add 10.9.0.0/24 via 10.1.0.2");
    until("10.1.0.2", {resolved, 0, mac_a}, 4s);
    until("10.9.0.7", {resolved, 0, mac_a, true}, 4s);
    EXPECT_THAT(link_changes(1), testing::ElementsAre(LinkState{0, true}));
  }
}

TEST_F(NeighboursTest, TheLinkOfANicBehindATwinCounts) {
  start({{.name = "wan", .port = 0, .kernel_interface = "wan", .device_interface = "", .mac = {}}});
  watch({"10.1.0.2"});
  EXPECT_EQ(cell("10.1.0.2"), (NextHop{resolved, 0, mac_a}));
  neighbours_->set_device_link(0, false);
  EXPECT_EQ(cell("10.1.0.2").state, NextHop::State::port_down);
  neighbours_->set_device_link(0, true);
  EXPECT_EQ(cell("10.1.0.2"), (NextHop{resolved, 0, mac_a}));
}

TEST_F(NeighboursTest, ARouteThatMovesTakesItsBackendsAlongAtOnce) {
  lab_->in(lab_->director, "ip route add 10.9.0.0/24 via 10.1.0.2");
  start_both(by_events_alone);
  watch({"10.9.0.7", "10.2.0.2"});
  EXPECT_EQ(cell("10.9.0.7"), (NextHop{resolved, 0, mac_a, true}));
  lab_->in(lab_->director, "ip route replace 10.9.0.0/24 via 10.2.0.2");
  until("10.9.0.7", {resolved, 1, mac_b, true});
  lab_->in(lab_->director, "ip route replace 10.9.0.0/24 via 10.1.0.2");
  until("10.9.0.7", {resolved, 0, mac_a, true});
  lab_->in(lab_->director, "ip route replace 10.9.0.0/24 via 10.2.0.2");
  until("10.9.0.7", {resolved, 1, mac_b, true});
  lab_->in(lab_->director, "ip route add 10.9.0.7/32 via 10.1.0.2");
  until("10.9.0.7", {resolved, 0, mac_a, true});
  lab_->in(lab_->director, "ip route del 10.9.0.7/32");
  until("10.9.0.7", {resolved, 1, mac_b, true});
  lab_->in(lab_->director, "ip route del 10.9.0.0/24");
  until("10.9.0.7", {});
  EXPECT_THAT(via("10.9.0.7"), HasSubstr("no route"));
}

TEST_F(NeighboursTest, ANextHopObjectAndARuleMoveRoutesToo) {
  lab_->in(lab_->director, "ip nexthop add id 5 via 10.1.0.2 dev wan");
  lab_->in(lab_->director, "ip route add 10.9.0.0/24 nhid 5");
  lab_->in(lab_->director, "ip route add 10.9.0.0/24 via 10.1.0.2 table 77");
  start_both();
  watch({"10.9.0.7"});
  lab_->in(lab_->director, "ip nexthop replace id 5 via 10.2.0.2 dev lan");
  until("10.9.0.7", {resolved, 1, mac_b, true});
  lab_->in(lab_->director, "ip rule add to 10.9.0.0/24 lookup 77");
  until("10.9.0.7", {resolved, 0, mac_a, true});
}

// Where a port's addresses and routes are is a matter of names; what its device is bound to is not.
TEST_F(NeighboursTest, AnInterfaceThatIsMadeLaterIsFoundByItsName) {
  for (const bool is_the_device : {false, true}) {
    SCOPED_TRACE(is_the_device);
    const std::string device = is_the_device ? "late0" : "";
    start({wan_,
           {.name = "late", .port = 2, .kernel_interface = "late0", .device_interface = device, .mac = {}}});
    watch({"10.3.0.2"});
    EXPECT_EQ(cell("10.3.0.2").state, NextHop::State::unresolved);
    for (int round = 0; round < 2; ++round) {  // the second time under another index
      lab_->run(
          fmt::format("ip -n {} link add late0 type veth peer name late1 netns {} address 02:00:00:00:00:2a",
                      lab_->director, lab_->b));
      lab_->in(lab_->director, "ip address add 10.3.0.1/24 dev late0");
      lab_->in(lab_->director, "ip link set late0 up");
      lab_->in(lab_->b, "ip address add 10.3.0.2/24 dev late1");
      lab_->in(lab_->b, "ip link set late1 up");
      if (is_the_device && round == 1) {
        std::this_thread::sleep_for(1500ms);
        EXPECT_EQ(cell("10.3.0.2").state, NextHop::State::port_down);
        EXPECT_THAT(via("10.3.0.2"), HasSubstr("the link of port late is down"));
      } else {
        until("10.3.0.2", {resolved, 2, mac_a2});
      }
      lab_->in(lab_->director, "ip link del late0");
      until("10.3.0.2", is_the_device ? NextHop{NextHop::State::port_down, 2, {}} : NextHop{});
    }
  }
}

TEST_F(NeighboursTest, AStaticMacIsUsedWhereTheRouteGoes) {
  NeighbourPort fixed = lan_;
  fixed.mac = MacAddress{2, 0, 0, 0, 0, 0x99};
  start({wan_, fixed});
  watch({"10.1.0.2", "10.2.0.2", "10.2.0.200"});
  EXPECT_EQ(cell("10.1.0.2"), (NextHop{resolved, 0, mac_a}));
  EXPECT_EQ(cell("10.2.0.2"), (NextHop{resolved, 1, *fixed.mac}));
  EXPECT_EQ(cell("10.2.0.200"), (NextHop{resolved, 1, *fixed.mac}));
  EXPECT_EQ(via("10.2.0.200"), "port lan, static next_hop_mac");
}

TEST_F(NeighboursTest, TheOnlyPortWithAStaticMacTakesEverything) {
  start({{.name = "p", .port = 0, .kernel_interface = "", .device_interface = "", .mac = mac_b}});
  watch({"10.1.0.2", "192.0.2.1", "2001:db8::1"});
  for (const char* text : {"10.1.0.2", "192.0.2.1", "2001:db8::1"})
    EXPECT_EQ(cell(text), (NextHop{resolved, 0, mac_b})) << text;
}

TEST_F(NeighboursTest, ALostEventIsMadeUpForByAskingAnew) {
  start_both();
  watch({"10.9.0.7"});
  // More events than the buffer holds while the thread is kept busy, and the one that counts is the last.
  const std::string batch = fmt::format("/tmp/gw-neigh-{}", getpid());
  std::ofstream file(batch);
  for (int i = 0; i < 20000; ++i)
    file << fmt::format("route add 172.16.{}.{}/32 dev lan\n", i / 256, i % 256);
  file << "route add 10.9.0.0/24 via 10.2.0.2\n";
  file.close();
  {
    const std::lock_guard lock(mutex_);  // the link callback waits for it
    neighbours_->set_device_link(0, false);
    lab_->in(lab_->director, "ip -batch " + batch);
  }
  unlink(batch.c_str());
  until("10.9.0.7", {resolved, 1, mac_b, true});
}

TEST_F(NeighboursTest, ManyBackendsBehindOneRouterMoveTogether) {
  lab_->in(lab_->director, "ip route add 10.9.0.0/16 via 10.1.0.2");
  start_both();
  std::vector<IpAddress> backends;
  for (int i = 0; i < 4000; ++i) backends.push_back(address(fmt::format("10.9.{}.{}", i / 250, i % 250 + 1)));
  neighbours_->set_backends(backends);
  ASSERT_TRUE(neighbours_->wait_settled(5s));
  lab_->in(lab_->director, "ip route replace 10.9.0.0/16 via 10.2.0.2");
  // About 30 us a backend on a quiet machine; a walk of all routes for each would not end in time on any.
  const auto took = until("10.9.15.250", {resolved, 1, mac_b, true}, 20s);
  RecordProperty("move_ms",
                 std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

}  // namespace
}  // namespace guideway
