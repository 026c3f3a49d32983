// Capture: a file of packets, read one by one.
// What: pcap and pcapng by libpcap, gzip by zlib; link types Ethernet, raw IP and BSD null, all handed out as
//       Ethernet frames (raw packets get a header with the fixed addresses below).
// Errors: a file that is none, another link type, a file that ends within a packet: one sentence.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "guideway/result.h"
#include "snapshot/next_hops.h"

namespace guideway {

using CaptureTime = std::chrono::nanoseconds;  // since 1970

struct CapturedFrame {
  std::span<const std::uint8_t> bytes;  // Ethernet; valid until the next call of next()
  bool truncated = false;               // there was more on the wire
  CaptureTime time{0};
};

// Whom frames that were made from raw IP packets come from and go to.
inline constexpr MacAddress capture_client_mac{0x02, 0x67, 0x77, 0, 0, 0xfe};
inline constexpr MacAddress capture_director_mac{0x02, 0x67, 0x77, 0, 0, 0x00};

class Capture {
 public:
  [[nodiscard]] static Result<Capture> open(const std::string& path);
  Capture(Capture&&) noexcept;
  Capture& operator=(Capture&&) noexcept;
  ~Capture();

  // nullopt at the end of the file.
  [[nodiscard]] Result<std::optional<CapturedFrame>> next();
  [[nodiscard]] const std::string& link_type() const;  // "EN10MB"

 private:
  struct Impl;
  explicit Capture(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
