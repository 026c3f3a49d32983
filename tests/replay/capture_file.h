// Capture files for tests, written byte by byte, in a directory of their own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/packets.h"

namespace guideway::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "guideway-replay-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const Bytes& bytes) const {
    std::ofstream file(path(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::string write_gz(const std::string& name, const Bytes& bytes) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path(name);
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

struct Recorded {
  Bytes bytes;
  std::uint32_t seconds = 0, microseconds = 0;
  std::uint32_t cut = 0;  // bytes that the snap length took
};

inline void append_le32(Bytes& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

inline Bytes pcap_bytes(const std::vector<Recorded>& packets, std::uint32_t link_type = 1) {
  Bytes out;
  append_le32(out, 0xa1b2c3d4);
  append_le32(out, 0x00040002);
  append_le32(out, 0);
  append_le32(out, 0);
  append_le32(out, 262144);
  append_le32(out, link_type);
  for (const Recorded& packet : packets) {
    append_le32(out, packet.seconds);
    append_le32(out, packet.microseconds);
    append_le32(out, static_cast<std::uint32_t>(packet.bytes.size()));
    append_le32(out, static_cast<std::uint32_t>(packet.bytes.size()) + packet.cut);
    append(out, packet.bytes);
  }
  return out;
}

}  // namespace guideway::testing
