// Fuzz: capture files, as replay reads them.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "replay/capture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guideway;
  static const int file = memfd_create("capture", 0);
  if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  auto capture = Capture::open("/proc/self/fd/" + std::to_string(file));
  if (!capture) {
    if (capture.error().text().empty()) std::abort();
    return 0;
  }
  std::uint64_t sum = 0;
  for (;;) {
    const auto frame = capture->next();
    if (!frame || !*frame) break;
    for (const std::uint8_t byte : (*frame)->bytes) sum += byte;  // all of it can be read
  }
  return sum == 0 ? -1 : 0;
}
