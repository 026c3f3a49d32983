#include "receive_fixture.h"

#include <linux/bpf.h>

namespace guideway::agent::test {

Prefix prefix(const std::string& text) { return parse_prefix(text).value(); }

Lists lists() {
  Lists out;
  out.directors = {prefix(director), prefix(director6), prefix("10.8.0.0/16")};
  out.peers = {prefix("10.0.0.12"), prefix("fd00::/64")};
  out.services = {prefix("203.0.113.0/28"), prefix(service6)};
  for (const std::string& text : {self, self6}) out.local.push_back(*IpAddress::parse(text));
  return out;
}

Bytes inner4(const Bytes& l4, std::uint8_t protocol, std::uint8_t tos) {
  return ip({client, service, protocol, tos}, l4);
}
Bytes inner6(const Bytes& l4, std::uint8_t protocol, std::uint8_t tos) {
  return ip({client6, service6, protocol, tos}, l4);
}
Bytes to4(const Gue& header, const Bytes& inner, const Ip& outer) {
  return ethernet(ip(outer, udp(0xc001, gue_port, gue(header, inner))));
}
Bytes to6(Gue header, const Bytes& inner, const Ip& outer) {
  header.v6_hops = true;
  return ethernet(ip(outer, udp(0xc001, gue_port, gue(header, inner))));
}

void ReceiveTest::SetUp() {
  if (const std::string refusal = kernel_refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
  const bool portable = GetParam();
  const auto tried = objects_for_this_kernel();
  if (!portable && !tried.front().kernel_types) GTEST_SKIP() << "this kernel carries no BTF of its own";
  auto loaded = Program::load({.udp_port = gue_port}, {portable ? portable_object() : tried.front()});
  ASSERT_TRUE(loaded) << loaded.error().text();
  program_ = std::move(*loaded);
  maps_.emplace(program_->maps().value());
  ASSERT_TRUE(maps_->set_lists(lists()));
}

std::string ReceiveTest::counted(const Bytes& frame, Outcome* outcome) {
  const gw_counters before = maps_->counters();
  *outcome = run_xdp(program_->receive(), frame);
  const gw_counters after = maps_->counters();
  std::string out;
  for (const Counter& counter : counter_table()) {
    if (std::string(counter.name).starts_with("of_")) continue;
    for (auto i = before.*counter.value; i < after.*counter.value; ++i)
      out += std::string(out.empty() ? "" : " ") + counter.name;
  }
  return out;
}

void ReceiveTest::check(const std::vector<FrameCase>& cases) {
  for (const FrameCase& c : cases) {
    Outcome outcome;
    EXPECT_EQ(counted(c.in, &outcome), c.counter) << c.description;
    const std::uint32_t action = c.counter.starts_with("drop_") ? XDP_DROP : XDP_PASS;
    EXPECT_EQ(outcome.action, action) << c.description;
    if (outcome.action == XDP_PASS) {
      EXPECT_EQ(outcome.frame, c.out.empty() ? c.in : c.out) << c.description;
    }
    const bool sent_on = c.counter.starts_with("forward_");
    if (outcome.metadata) {
      EXPECT_EQ(outcome.metadata->size(), sent_on ? 4u : 0u) << c.description;
    }
  }
}

std::string object_name(const testing::TestParamInfo<bool>& portable) {
  return portable.param ? "portable" : "kernel_types";
}

}  // namespace guideway::agent::test
