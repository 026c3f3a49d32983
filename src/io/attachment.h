// Attachment: DPDK ports made from a device, and taken away again.
// Thread: control.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "io/virtual_device.h"

namespace guideway {

// The DPDK port of a virtual device that was not there before.
[[nodiscard]] Result<std::uint16_t> attach_virtual(const VirtualDevice& device);
// The DPDK port of a PCI device, which the EAL probed at its start.
[[nodiscard]] Result<std::uint16_t> find_pci(const std::string& address);
// A port on rte_rings "NAME_rxQ" (we receive) and "NAME_txQ" (we send), made here where they are missing.
[[nodiscard]] Result<std::uint16_t> attach_rings(const std::string& name, std::uint16_t queues, int socket);
// Stops, closes and removes it. Rings stay: their other end may still hold them.
void detach(std::uint16_t dpdk_port);

}  // namespace guideway
