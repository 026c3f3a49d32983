// An open handle of libpcap that closes itself.
#pragma once

#include <pcap/pcap.h>

#include <memory>

namespace guideway {

struct PcapClose {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
};

using PcapHandle = std::unique_ptr<pcap_t, PcapClose>;

}  // namespace guideway
