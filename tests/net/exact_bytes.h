// Exact bytes: a heap buffer with not one byte to spare, so that a sanitizer sees a parser's first step too far.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace guideway::testing {

class ExactBytes {
 public:
  explicit ExactBytes(std::span<const std::uint8_t> bytes)
      : bytes_(std::make_unique<std::uint8_t[]>(bytes.size())), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::span<const std::uint8_t> span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_;
};

}  // namespace guideway::testing
