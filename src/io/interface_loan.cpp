#include "io/interface_loan.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "io/interface.h"

namespace guideway {
namespace {

void say(const std::string& interface, std::string_view what, int status) {
  if (status != 0)
    spdlog::warn(
        fmt::format("{}: its {} of before cannot be put back: {}", interface, what, std::strerror(-status)));
}

}  // namespace

InterfaceLoan::InterfaceLoan(std::string interface, std::uint16_t mtu, bool promiscuous)
    : interface_(std::move(interface)),
      mtu_(mtu),
      promiscuous_(promiscuous),
      mtu_before_(interface_mtu(interface_)),
      promiscuous_before_(is_promiscuous(interface_)) {}

InterfaceLoan::~InterfaceLoan() {
  if (mtu_before_ && *mtu_before_ != mtu_ && interface_mtu(interface_) == mtu_)
    say(interface_, "MTU", set_interface_mtu(interface_, *mtu_before_));
  if (promiscuous_before_ && *promiscuous_before_ != promiscuous_ &&
      is_promiscuous(interface_) == promiscuous_)
    say(interface_, "promiscuous mode", set_promiscuous(interface_, *promiscuous_before_));
}

}  // namespace guideway
