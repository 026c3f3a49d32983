// Replays a corpus through a fuzz target: each file as it is, cut at every length, and with bytes changed.
// Usage: fuzz_NAME DIRECTORY
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  std::size_t files = 0, runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    ++files;
    for (std::size_t size = 0; size <= bytes.size(); ++size, ++runs)
      LLVMFuzzerTestOneInput(bytes.data(), size);
    for (std::uint8_t& byte : bytes) {
      const std::uint8_t before = byte;
      for (const unsigned flip : {0x01U, 0x10U, 0x7fU, 0xffU}) {
        byte = static_cast<std::uint8_t>(before ^ flip);
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        ++runs;
      }
      byte = before;
    }
  }
  std::printf("%zu files, %zu runs\n", files, runs);
  return files == 0 ? 1 : 0;
}
