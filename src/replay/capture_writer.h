// Capture writer: the frames that would leave, as a pcap file with nanosecond time stamps.
// What: writes beside the file and renames when it is done, so that a run that fails leaves no half of one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "guideway/result.h"
#include "replay/capture.h"

namespace guideway {

class CaptureWriter {
 public:
  [[nodiscard]] static Result<CaptureWriter> create(const std::string& path);
  CaptureWriter(CaptureWriter&&) noexcept;
  ~CaptureWriter();  // without finish(): nothing is left

  void write(std::span<const std::uint8_t> frame, CaptureTime time);
  // The file stands under its name when this answers.
  [[nodiscard]] Result<void> finish();

 private:
  struct Impl;
  explicit CaptureWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
