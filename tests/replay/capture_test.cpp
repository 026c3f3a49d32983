#include "replay/capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "replay/capture_writer.h"
#include "tests/replay/capture_file.h"

namespace guideway::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

struct Read {
  Bytes bytes;
  bool truncated;
  CaptureTime time;
};

std::vector<Read> read_all(const std::string& path) {
  auto capture = Capture::open(path);
  EXPECT_TRUE(capture.has_value()) << capture.error().text();
  std::vector<Read> out;
  if (!capture) return out;
  for (;;) {
    auto frame = capture->next();
    EXPECT_TRUE(frame.has_value()) << frame.error().text();
    if (!frame || !*frame) return out;
    out.push_back({{(*frame)->bytes.begin(), (*frame)->bytes.end()}, (*frame)->truncated, (*frame)->time});
  }
}

TEST(Capture, PcapPlainAndGzipped) {
  const TemporaryDirectory directory;
  const Bytes first = frame(ip({}, tcp())), second = frame(ip(ipv6(), udp()));
  const Bytes file = pcap_bytes({{first, 7, 500000, 0}, {second, 8, 1, 30}});
  for (const std::string& path :
       {directory.write("plain.pcap", file), directory.write_gz("zipped.pcap.gz", file)}) {
    const auto frames = read_all(path);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].bytes, first);
    EXPECT_FALSE(frames[0].truncated);
    EXPECT_EQ(frames[0].time, seconds(7) + microseconds(500000));
    EXPECT_EQ(frames[1].bytes, second);
    EXPECT_TRUE(frames[1].truncated);
  }
}

TEST(Capture, RawAndNullBecomeEthernet) {
  const TemporaryDirectory directory;
  const Link link{capture_director_mac, capture_client_mac, {}, 0};
  for (const Bytes& packet : {ip({}, tcp()), ip(ipv6(), tcp())}) {
    Bytes null = {2, 0, 0, 0};
    append(null, packet);
    for (const std::uint32_t raw : {101U, packet[0] >> 4 == 4 ? 228U : 229U}) {
      const auto frames = read_all(directory.write("raw.pcap", pcap_bytes({{packet}}, raw)));
      ASSERT_EQ(frames.size(), 1U);
      EXPECT_EQ(frames[0].bytes, frame(packet, link));
    }
    for (const std::uint32_t type : {0U, 108U}) {
      const auto frames = read_all(directory.write("null.pcap", pcap_bytes({{null}, {{1}}}, type)));
      ASSERT_EQ(frames.size(), 2U);
      EXPECT_EQ(frames[0].bytes, frame(packet, link));
      EXPECT_EQ(frames[1].bytes.size(), 14U);
    }
  }
}

TEST(Capture, WhatIsNoCaptureIsRefusedInOneSentence) {
  const TemporaryDirectory directory;
  const Bytes good = pcap_bytes({{frame(ip({}, tcp()))}});
  struct Case {
    const char* description;
    std::string path, says;
  };
  const std::vector<Case> cases = {
      {"no file", directory.path("none.pcap"), "No such file"},
      {"an empty file", directory.write("empty.pcap", {}), "is no capture"},
      {"text", directory.write("text.pcap", Bytes(100, 'x')), "is no capture"},
      {"a header cut short", directory.write("short.pcap", {good.begin(), good.begin() + 20}),
       "is no capture"},
      {"a directory", directory.path(""), "is no capture"},
      {"another link type", directory.write("wifi.pcap", pcap_bytes({}, 105)), "link type"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    const auto capture = Capture::open(c.path);
    ASSERT_FALSE(capture.has_value());
    EXPECT_NE(capture.error().text().find(c.says), std::string::npos) << capture.error().text();
    EXPECT_NE(capture.error().text().find(c.path), std::string::npos);
    EXPECT_FALSE(capture.error().next.empty());
  }
}

TEST(Capture, AFileThatEndsWithinAPacket) {
  const TemporaryDirectory directory;
  const Bytes good = pcap_bytes({{frame(ip({}, tcp()))}, {frame(ip({}, tcp()))}});
  for (const std::size_t cut : {1, 30, 60}) {
    auto capture = Capture::open(
        directory.write("cut.pcap", {good.begin(), good.end() - static_cast<std::ptrdiff_t>(cut)}));
    ASSERT_TRUE(capture.has_value());
    ASSERT_TRUE(capture->next().has_value());
    const auto second = capture->next();
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().text().find("broken behind packet 1"), std::string::npos);
  }
  // A gzipped one too.
  const Bytes many = pcap_bytes(std::vector<Recorded>(500, {frame(ip({}, tcp()))}));
  const std::string path = directory.write_gz("cut.pcap.gz", many);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  auto capture = Capture::open(path);
  ASSERT_TRUE(capture.has_value());
  for (;;) {
    const auto next = capture->next();
    if (!next) break;  // refused in the end
    ASSERT_TRUE(next->has_value()) << "half a file read as a whole one";
  }
}

TEST(Capture, ATimeThatNoClockShowsIsRefused) {
  const TemporaryDirectory directory;
  const Bytes packet = frame(ip({}, tcp()));
  for (const auto& [high, good] :
       {std::pair{0x00060000U, true}, std::pair{0x01000000U, false}, std::pair{~0U, false}}) {
    Bytes file;
    const auto block = [&file](std::uint32_t type, const std::vector<std::uint32_t>& words,
                               const Bytes& data = {}) {
      const auto padded = static_cast<std::uint32_t>((data.size() + 3) / 4 * 4);
      const auto size = static_cast<std::uint32_t>(12 + words.size() * 4 + padded);
      append_le32(file, type);
      append_le32(file, size);
      for (const std::uint32_t word : words) append_le32(file, word);
      append(file, data);
      file.resize(file.size() + padded - data.size());
      append_le32(file, size);
    };
    const auto bytes = static_cast<std::uint32_t>(packet.size());
    block(0x0a0d0d0a, {0x1a2b3c4d, 1, ~0U, ~0U});  // pcapng: the section,
    block(1, {1, 262144});                         // an Ethernet interface with a clock of microseconds,
    block(6, {0, high, 0, bytes, bytes}, packet);  // a packet
    auto capture = Capture::open(directory.write("times.pcapng", file));
    ASSERT_TRUE(capture.has_value()) << capture.error().text();
    const auto next = capture->next();
    ASSERT_EQ(next.has_value(), good) << high;
    if (!good) {
      EXPECT_NE(next.error().text().find("packet 0 has a time stamp of "), std::string::npos)
          << next.error().text();
    }
  }
}

TEST(CaptureWriter, WhatIsWrittenIsReadBack) {
  const TemporaryDirectory directory;
  const Bytes bytes = frame(ip({}, tcp()));
  {
    auto writer = CaptureWriter::create(directory.path("out.pcap"));
    ASSERT_TRUE(writer.has_value());
    writer->write(bytes, seconds(5) + std::chrono::nanoseconds(123456789));
    EXPECT_FALSE(std::filesystem::exists(directory.path("out.pcap"))) << "there before it is whole";
    ASSERT_TRUE(writer->finish().has_value());
  }
  const auto frames = read_all(directory.path("out.pcap"));
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].bytes, bytes);
  EXPECT_EQ(frames[0].time, seconds(5) + std::chrono::nanoseconds(123456789));
}

TEST(CaptureWriter, ARunThatFailsLeavesNothing) {
  const TemporaryDirectory directory;
  {
    auto writer = CaptureWriter::create(directory.path("out.pcap"));
    ASSERT_TRUE(writer.has_value());
    writer->write(frame(ip({}, tcp())), {});
  }
  EXPECT_EQ(directory.files(), 0U);
  const auto nowhere = CaptureWriter::create(directory.path("none/out.pcap"));
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().text().find("cannot be written"), std::string::npos);
}

// Renamed onto, a pipe or a device would be gone.
TEST(CaptureWriter, WhatIsNoFileIsWrittenAsItIs) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  {
    auto writer = CaptureWriter::create(pipe);
    ASSERT_TRUE(writer.has_value());
    writer->write(frame(ip({}, tcp())), {});
    ASSERT_TRUE(writer->finish().has_value());
  }
  std::array<char, 24> header{};
  EXPECT_EQ(read(reader, header.data(), header.size()), 24);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(directory.files(), 1U);
}

TEST(CaptureWriter, ALinkStaysALink) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("out.pcap", directory.path("link"));
  {
    auto writer = CaptureWriter::create(directory.path("link"));
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(writer->finish().has_value());
  }
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
  EXPECT_TRUE(std::filesystem::is_regular_file(directory.path("out.pcap")));
}

}  // namespace
}  // namespace guideway::testing
