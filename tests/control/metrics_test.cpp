// Metrics: the exposition format by its grammar and by promtool, the values, and the server on loopback.

#include "control/metrics.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "../command/fake_flow_tables.h"
#include "control/metrics_server.h"

namespace guideway {
namespace {

using testing::HasSubstr;

// A director at work. Every number is another one, so that no two can be mixed up.
class FakeLive final : public Live {
 public:
  FakeFlowTables tables;
  StatsReport stats() override {
    StatsReport out;
    out.packets_in = 9'007'199'254'740'991;  // 2^53-1: a counter is told to the last digit
    out.bytes_in = 1001;
    for (std::size_t i = 0; i < verdict_count; ++i) {
      out.packets[i] = 2000 + i;
      out.bytes[i] = 3000 + i;
    }
    out.services = {{"www", 11, 12, 13, 14}};
    out.backends = {{"web", "web-1", 21, 22, 23, {}}, {"web", "web-2", 31, 32, 33, {}}};
    out.workers = {{1, 41, 42, 43, 44, 45, 46, 401, 402, 47, 48, 49, 410},
                   {2, 51, 52, 53, 54, 55, 56, 501, 502, 57, 58, 59, 510}};
    return out;
  }
  std::vector<HealthReport> health() override {
    std::vector<HealthReport> out(2);
    out[0] = {"web", "web-1", Health::up, {}, Health::up, "", std::chrono::milliseconds(61500), false};
    out[1] = {"web", "web-2", Health::down, Health::down, Health::up, "", std::chrono::milliseconds(62000),
              true};
    return out;
  }
  Result<void> set_health(const std::string&, const std::string&, std::optional<Health>) override {
    return {};
  }
  std::vector<PortReport> ports() override {
    PortReport port;
    port.name = "wan";
    port.device = hostile_text;
    port.driver = "net_af_packet";
    port.link_up = true;
    port.mtu = 1500;
    port.rx_packets = 71;
    port.tx_errors = 75;
    port.steered = SteeredPackets{76, 77, 78, 79};
    PortReport unsteered;
    unsteered.name = "lan";
    return {port, unsteered};
  }
  std::vector<NextHopReport> next_hops() override {
    return {
        {"10.0.1.11", {NextHop::State::resolved, 0, {}}, "port wan, on-link"},
        {"10.0.1.12", {NextHop::State::unresolved, 0, {}}, "no route to 10.0.1.12: Network is unreachable"}};
  }
  SharedHealthView health_view() override { return std::make_shared<const HealthView>(); }
  FlowsLeft flows_left(const std::string& pool, const std::string& backend) override {
    asked.insert(pool + "/" + backend);
    return {81, 5, UnseenFlows{Unseen::table_on, {}, {}}};
  }
  FlowTables& flow_tables() override { return tables; }
  std::optional<UnseenFlows> unseen_flows(const std::string&, const std::string&) override { return {}; }
  std::chrono::seconds uptime() override { return std::chrono::seconds(91); }
  MemoryReport memory() override { return {.resident_bytes = 92}; }

  static constexpr const char* hostile_text = "pcap:\"in\\put\".pcap,\nout";
  std::set<std::string> asked;
};

SiteVersion version() {
  SiteVersion out;
  out.epoch = Epoch{7};
  Pool pool;
  pool.name = "web";
  pool.backends = {{.name = "web-1", .address = {}, .weight = 100},
                   {.name = "web-2", .address = {}, .weight = 200, .state = BackendState::draining}};
  out.site.pools = {pool};
  return out;
}

PublishReport published() {
  return {.site_digest = 0xabc,
          .pools = {{"web", 0xdef, 0x123}},
          .build = std::chrono::milliseconds(5),
          .publish = std::chrono::microseconds(6),
          .published = 8,
          .rows_forgotten = {{"web", 9}}};
}

MetricsView view() {
  FakeLive live;
  return metrics_view(live, version(), published());
}

// The sample lines of a text that keeps the format's grammar; anything else is a failure.
std::map<std::string, double> parse(const std::string& text) {
  static const std::regex help(R"(# HELP (guideway_[a-z0-9_]+) .+\.)");
  static const std::regex type(R"(# TYPE (guideway_[a-z0-9_]+) (counter|gauge))");
  static const std::regex sample(
      R"((guideway_[a-z0-9_]+)((?:\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})?) ([-+0-9.e]+))");
  std::map<std::string, double> out;
  std::set<std::string> families;
  std::string family;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      EXPECT_TRUE(families.insert(found[1]).second) << "family twice: " << line;
    } else if (std::regex_match(line, found, type)) {
      family = found[1];
      EXPECT_TRUE(families.contains(family)) << "no help: " << line;
      EXPECT_EQ(found[2] == "counter", family.ends_with("_total")) << line;
    } else if (std::regex_match(line, found, sample)) {
      EXPECT_EQ(found[1], family) << "outside of its family: " << line;
      EXPECT_TRUE(out.emplace(found[1].str() + found[2].str(), std::stod(found[3])).second)
          << "twice: " << line;
    } else {
      ADD_FAILURE() << "not in the grammar: " << line;
    }
  }
  return out;
}

TEST(MetricsTest, EverySampleHasItsValue) {
  const auto samples = parse(metrics_text(view()));
  const struct {
    const char* sample;
    double value;
  } cases[] = {
      {"guideway_epoch", 7},
      {"guideway_uptime_seconds", 91},
      {"guideway_memory_bytes", 92},
      {"guideway_site_digest_info{digest=\"0x0000000000000abc\"}", 1},
      {"guideway_pool_digest_info{pool=\"web\",site_digest=\"0x0000000000000def\",rows_digest="
       "\"0x0000000000000123\"}",
       1},
      {"guideway_snapshot_build_seconds", 0.005},
      {"guideway_snapshot_publish_seconds", 0.000006},
      {"guideway_snapshots_published_total", 8},
      {"guideway_received_packets_total", 9'007'199'254'740'991},
      {"guideway_packets_total{verdict=\"forward\"}", 2000},
      {"guideway_bytes_total{verdict=\"held\"}", 3003},
      {"guideway_dropped_packets_total{reason=\"truncated\"}", 2004},
      {"guideway_dropped_bytes_total{reason=\"kernel_full\"}", 3000 + verdict_count - 1},
      {"guideway_service_packets_total{service=\"www\"}", 11},
      {"guideway_service_bytes_total{service=\"www\"}", 12},
      {"guideway_service_new_flows_total{service=\"www\"}", 13},
      {"guideway_service_unmatched_packets_total{service=\"www\"}", 14},
      {"guideway_backend_packets_total{pool=\"web\",backend=\"web-1\"}", 21},
      {"guideway_backend_bytes_total{pool=\"web\",backend=\"web-2\"}", 32},
      {"guideway_backend_new_flows_total{pool=\"web\",backend=\"web-2\"}", 33},
      {"guideway_backend_live_flows{pool=\"web\",backend=\"web-2\"}", 81},
      {"guideway_backend_closing_flows{pool=\"web\",backend=\"web-2\"}", 5},
      {"guideway_pool_rows_forgotten_total{pool=\"web\"}", 9},
      {"guideway_backend_unseen_flows{pool=\"web\",backend=\"web-2\",why=\"table_on\"}", 1},
      {"guideway_backend_unseen_flows{pool=\"web\",backend=\"web-2\",why=\"strangers\"}", 0},
      {"guideway_backend_weight{pool=\"web\",backend=\"web-2\"}", 200},
      {"guideway_backend_state{pool=\"web\",backend=\"web-2\",state=\"draining\"}", 1},
      {"guideway_backend_state{pool=\"web\",backend=\"web-2\",state=\"active\"}", 0},
      {"guideway_backend_health{pool=\"web\",backend=\"web-1\",state=\"up\"}", 1},
      {"guideway_backend_health{pool=\"web\",backend=\"web-2\",state=\"down\"}", 1},
      {"guideway_backend_health{pool=\"web\",backend=\"web-2\",state=\"up\"}", 0},
      {"guideway_backend_health_age_seconds{pool=\"web\",backend=\"web-1\"}", 61.5},
      {"guideway_backend_health_overridden{pool=\"web\",backend=\"web-2\"}", 1},
      {"guideway_pool_health_alarm{pool=\"web\"}", 1},
      {"guideway_worker_received_packets_total{lcore=\"1\"}", 41},
      {"guideway_worker_idle_polls_total{lcore=\"2\"}", 54},
      {"guideway_worker_flows_evicted_total{lcore=\"2\"}", 56},
      {"guideway_worker_flows_refused_total{lcore=\"1\"}", 401},
      {"guideway_worker_stranger_packets_total{lcore=\"2\"}", 502},
      {"guideway_worker_host_frames_total{lcore=\"1\"}", 47},
      {"guideway_worker_host_frames_lost_total{lcore=\"2\"}", 58},
      {"guideway_worker_flow_table_entries{lcore=\"1\"}", 49},
      {"guideway_worker_flow_table_room{lcore=\"2\"}", 510},
      {"guideway_port_link_up{port=\"wan\"}", 1},
      {"guideway_port_mtu_bytes{port=\"wan\"}", 1500},
      {"guideway_port_received_packets_total{port=\"wan\"}", 71},
      {"guideway_port_steered_packets_total{port=\"wan\",to=\"socket\"}", 76},
      {"guideway_port_steered_packets_total{port=\"wan\",to=\"kernel\"}", 77},
      {"guideway_port_steered_packets_total{port=\"wan\",to=\"dropped\"}", 78},
      {"guideway_port_services_left_out{port=\"wan\"}", 79},
      {"guideway_port_transmit_errors_total{port=\"wan\"}", 75},
      {"guideway_next_hop_state{address=\"10.0.1.12\",state=\"unresolved\"}", 1},
      {"guideway_next_hop_state{address=\"10.0.1.12\",state=\"resolved\"}", 0},
  };
  for (const auto& c : cases) {
    const auto found = samples.find(c.sample);
    if (found == samples.end())
      ADD_FAILURE() << "missing: " << c.sample;
    else
      EXPECT_DOUBLE_EQ(found->second, c.value) << c.sample;
  }
  std::size_t reasons = 0;
  for (const auto& [sample, value] : samples) reasons += sample.starts_with("guideway_dropped_packets_total");
  EXPECT_EQ(reasons, verdict_count - 4) << "every drop has its reason";
}

TEST(MetricsTest, FlowsAreCountedForDrainingBackendsOnly) {
  FakeLive live;
  const auto text = metrics_text(metrics_view(live, version(), published()));
  EXPECT_THAT(live.asked, testing::ElementsAre("web/web-2"));
  EXPECT_THAT(text, Not(HasSubstr("live_flows{pool=\"web\",backend=\"web-1\"")));
}

TEST(MetricsTest, LabelValuesAreEscaped) {
  const auto text = metrics_text(view());
  EXPECT_THAT(text, HasSubstr(R"(device="pcap:\"in\\put\".pcap,\nout")"));
  parse(text);
}

TEST(MetricsTest, AnEmptyDirectorIsValidToo) {
  const auto samples = parse(metrics_text(MetricsView{}));
  EXPECT_TRUE(samples.contains("guideway_epoch"));
  EXPECT_THAT(status_page(MetricsView{}), HasSubstr("epoch 0"));
}

TEST(MetricsTest, PromtoolHasNothingToSay) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (prometheus)";
  FILE* pipe = popen("promtool check metrics 2>&1", "w");
  ASSERT_NE(pipe, nullptr);
  const auto text = metrics_text(view());
  fwrite(text.data(), 1, text.size(), pipe);
  EXPECT_EQ(pclose(pipe), 0);
}

TEST(MetricsTest, TheStatusPageSaysWhatIsWrong) {
  const auto page = status_page(view());
  for (const char* part : {"epoch 7", "web/web-2", "draining", "DOWN (set by hand)", "10.0.1.12",
                           "no route to 10.0.1.12", "drop: truncated", "link up"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, HasSubstr("cannot be sent to"));
  EXPECT_THAT(page, Not(HasSubstr("10.0.1.11 "))) << "only next hops in trouble";
  auto sound = view();
  std::erase_if(sound.next_hops,
                [](const auto& hop) { return hop.next_hop.state != NextHop::State::resolved; });
  EXPECT_THAT(status_page(sound), Not(HasSubstr("cannot be sent to")))
      << "no heading without a line below it";
}

struct Reply {
  long status = 0;
  std::string body, type;
};

std::size_t keep(char* data, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

Reply request(std::uint16_t port, const char* path, const char* method = "GET",
              const char* host = "127.0.0.1") {
  Reply reply;
  CURL* curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, fmt::format("http://{}:{}{}", host, port, path).c_str());
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
  if (std::string_view(method) == "HEAD")
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  if (std::string_view(method) == "PUT" || std::string_view(method) == "POST")
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "a body that nobody asked for");
  EXPECT_EQ(curl_easy_perform(curl), CURLE_OK);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  const char* type = nullptr;
  curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
  if (type != nullptr) reply.type = type;
  curl_easy_cleanup(curl);
  return reply;
}

TEST(MetricsServerTest, ServesReadOnly) {
  const auto server = MetricsServer::start("127.0.0.1:0", view);
  ASSERT_TRUE(server) << server.error().text();
  const std::uint16_t port = (*server)->port();
  ASSERT_NE(port, 0);
  const auto metrics = request(port, "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(metrics.body, metrics_text(view()));
  EXPECT_EQ(request(port, "/").body, status_page(view()));
  EXPECT_EQ(request(port, "/metrics", "HEAD").status, 200);
  EXPECT_EQ(request(port, "/v1/site").status, 404);
  for (const char* method : {"PUT", "POST", "DELETE"})
    EXPECT_EQ(request(port, "/metrics", method).status, 405) << method;
}

TEST(MetricsServerTest, ServesIpv6AndManyAtOnce) {
  const auto server = MetricsServer::start("[::1]:0", view);
  ASSERT_TRUE(server) << server.error().text();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j)
        EXPECT_EQ(request((*server)->port(), "/metrics", "GET", "[::1]").status, 200);
    });
  for (auto& thread : threads) thread.join();
}

TEST(MetricsServerTest, AViewThatThrowsClosesOnlyItsConnection) {
  int calls = 0;
  const auto server = MetricsServer::start("127.0.0.1:0", [&]() -> MetricsView {
    if (++calls == 1) throw std::bad_alloc();
    return view();
  });
  ASSERT_TRUE(server);
  CURL* curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, fmt::format("http://127.0.0.1:{}/metrics", (*server)->port()).c_str());
  EXPECT_NE(curl_easy_perform(curl), CURLE_OK);
  curl_easy_cleanup(curl);
  EXPECT_EQ(request((*server)->port(), "/metrics").status, 200);
}

TEST(MetricsServerTest, SlowConnectionsCannotHoldThePort) {
  const auto server = MetricsServer::start("127.0.0.1:0", view);
  ASSERT_TRUE(server);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons((*server)->port());
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // Each says a little and then more of it, for as long as the test runs: none of them is ever idle.
  std::vector<Fd> slow;
  for (int n = 0; n < 100; ++n) {
    slow.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(slow.back().get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    send(slow.back().get(), "GET /metrics HTTP/1.1\r\nX: ", 27, MSG_NOSIGNAL);
  }
  std::atomic<bool> stopping{false};
  std::thread dripping([&] {
    while (!stopping) {
      for (const Fd& one : slow) send(one.get(), "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (int n = 0; n < 5; ++n)
    EXPECT_THAT(request((*server)->port(), "/metrics").body, HasSubstr("guideway_")) << n;
  stopping = true;
  dripping.join();
}

TEST(MetricsServerTest, ABadAddressIsRefusedWithASentence) {
  const auto first = MetricsServer::start("127.0.0.1:0", view);
  ASSERT_TRUE(first);
  const std::string taken = fmt::format("127.0.0.1:{}", (*first)->port());
  const struct {
    std::string bind;
    const char* text;
  } cases[] = {
      {"", "is no address and port; write 127.0.0.1:9464"},
      {"9464", "is no address and port"},
      {"localhost:9464", "is no address and port"},
      {"127.0.0.1:99999", "is no address and port"},
      {"127.0.0.1:-1", "is no address and port"},
      {"127.0.0.1:", "is no address and port"},
      {"::1:9464", "is no address and port"},
      {"[127.0.0.1]:9464", "is no address and port"},
      {"0.0.0.0:9464", "is not on loopback; use 127.0.0.1"},
      {"[::]:9464", "is not on loopback"},
      {"192.0.2.1:9464", "is not on loopback"},
      {taken, "Address already in use; another program has this port"},
  };
  for (const auto& c : cases) {
    const auto server = MetricsServer::start(c.bind, view);
    ASSERT_FALSE(server) << c.bind;
    EXPECT_THAT(server.error().text(), HasSubstr(c.text)) << c.bind;
  }
}

}  // namespace
}  // namespace guideway
