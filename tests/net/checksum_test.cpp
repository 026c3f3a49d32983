#include "net/checksum.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/packets.h"

namespace guideway::testing {
namespace {

// RFC 1071, section 3: 00 01 f2 03 f4 f5 f6 f7 sum to ddf2.
TEST(Checksum, Rfc1071Example) {
  const Bytes bytes = from_hex("0001 f203 f4f5 f6f7");
  EXPECT_EQ(net::swap16(net::ChecksumSum{}.add(bytes).folded()), 0xddf2);
}

std::uint16_t one_by_one(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? std::uint32_t{bytes[i]} << 8 : bytes[i];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(sum);
}

TEST(Checksum, AgreesWithAddingOneByOne) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    Bytes bytes(size);
    for (auto& byte : bytes) byte = size % 3 == 0 ? 0xff : static_cast<std::uint8_t>(random());
    EXPECT_EQ(net::swap16(net::ChecksumSum{}.add(bytes).folded()), one_by_one(bytes)) << size;
  }
}

TEST(Checksum, WordsAndBytesAreTheSameSum) {
  const Bytes bytes = from_hex("ffff fffe 8001 0002 1234 5678 9abc def0");
  const auto words = net::ChecksumSum{}
                         .add(net::load<std::uint64_t>(bytes.data()))
                         .add(net::load<std::uint64_t>(bytes.data() + 8));
  EXPECT_EQ(words.folded(), net::ChecksumSum{}.add(bytes).folded());
}

}  // namespace
}  // namespace guideway::testing
