// Outputs: what a burst leaves behind for the ports to send.
// What: an outbox for each egress port, and one for each ingress port whose frames the kernel shall see.
// Why:  a packet counts as forwarded only once the port took it, so counting is settled after the sending.
// Use:  for each bit in `to_ports`: n = tx_burst(port, queue, box.frames, box.size); pipeline.sent(box, n,
//       Verdict::drop_tx_full). Likewise `to_kernel` with the twin and Verdict::drop_kernel_full; a port that
//       shares its NIC with the kernel frees the frames itself and reports all of them as sent.
// Thread: one worker.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "snapshot/port_table.h"
#include "snapshot/verdict.h"

namespace guideway {

inline constexpr std::size_t outbox_max = 256;

struct Outbox {
  std::uint16_t size = 0;
  bool whole_burst =
      false;  // frame n is packet n, for all packets of the burst, and each one's verdict is `forward`
  std::array<rte_mbuf*, outbox_max> frames;     // first, as rte_eth_tx_burst takes it
  std::array<std::uint8_t, outbox_max> origin;  // place in the burst; those of one packet lie side by side

  void empty() {
    size = 0;
    whole_burst = false;
  }
};

struct Outputs {
  std::uint32_t to_ports = 0;            // bit p: port[p] is not empty
  std::uint32_t to_kernel = 0;           // bit p: kernel[p] is not empty
  std::array<Outbox, ports_max> port;    // by egress port
  std::array<Outbox, ports_max> kernel;  // by ingress port, frames as they came in
};

}  // namespace guideway
