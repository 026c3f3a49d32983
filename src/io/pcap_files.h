// Pcap files: whether the captures that ports read and write can be opened.
// Why:  the driver fails without a word, or truncates a file that another port still reads.
// Thread: control, before the EAL starts. It reads the captures' headers and writes nothing.
// Not:  what the packets in them are worth.
#pragma once

#include <span>

#include "guideway/result.h"
#include "state/director_config.h"

namespace guideway {

// Refused: a capture that is not there, may not be read, or is none of Ethernet frames; a file to write to that cannot be
// made or written; one file for two purposes.
[[nodiscard]] Result<void> check_pcap_files(std::span<const PortConfig> ports);

}  // namespace guideway
