// Interface loan: an interface of the kernel's, lent to a port.
// What: remembers its MTU and whether it is promiscuous before the port's driver sets either, and puts them back in the
//       end.
// Why:  the interface is the host's: after a stop, and after a start that was refused, it is as it was.
// Not:  setting them (drivers do so themselves, and set_interface_mtu); what somebody else has set meanwhile, which stays;
//       nor after kill -9.
// Thread: control.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace guideway {

class InterfaceLoan {
 public:
  // Before the interface is given the port's MTU and made as promiscuous as the port is to be.
  InterfaceLoan(std::string interface, std::uint16_t mtu, bool promiscuous);
  ~InterfaceLoan();
  InterfaceLoan(const InterfaceLoan&) = delete;
  InterfaceLoan& operator=(const InterfaceLoan&) = delete;

 private:
  std::string interface_;
  int mtu_;
  bool promiscuous_;
  std::optional<int> mtu_before_;
  std::optional<bool> promiscuous_before_;
};

}  // namespace guideway
