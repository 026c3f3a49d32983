// Fuzz: the journal's seatings. Whatever is accepted writes the very bytes that were read.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "state/seating_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guideway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto seating = parse_seating(bytes); seating && seating_bytes(*seating) != bytes) std::abort();
  return 0;
}
