#include "state/seating_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>

namespace guideway {
namespace {

constexpr std::string_view magic = "GWSEAT1\n";

void put(std::string& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
}

// Takes little-endian numbers and strings off the front; everything after a short read is zero and not ok.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  std::string_view take(std::size_t size) {
    if (size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t out = 0;
    const std::string_view bytes = take(size);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      out |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return out;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

std::vector<MemberIndex> take_indices(Bytes& bytes, std::size_t count) {
  std::vector<MemberIndex> out(count);
  for (MemberIndex& index : out) index = static_cast<MemberIndex>(bytes.number(sizeof(MemberIndex)));
  return out;
}

}  // namespace

std::string seating_bytes(const Seating& seating) {
  std::string out(magic);
  out.reserve(magic.size() + 16 + seating.members.size() * 24 + seating.holder.size() * 4);
  put(out, seating.seed, 8);
  put(out, seating.row_count, 4);
  put(out, seating.members.size(), 4);
  for (const Member& member : seating.members) {
    put(out, member.weight, 4);
    put(out, member.name.size(), 1);
    out += member.name;
  }
  for (const MemberIndex index : seating.holder) put(out, index, sizeof index);
  for (const MemberIndex index : seating.former) put(out, index, sizeof index);
  return out;
}

Result<Seating> parse_seating(std::string_view text) {
  const auto damaged = [] { return fail(ErrorKind::internal, "the seating is damaged"); };
  Bytes bytes(text);
  if (bytes.take(magic.size()) != magic) return damaged();
  Seating out;
  out.seed = bytes.number(8);
  out.row_count = static_cast<std::uint32_t>(bytes.number(4));
  const std::uint64_t members = bytes.number(4);
  if (!bytes.ok() || members > members_max) return damaged();
  for (std::uint64_t i = 0; i < members && bytes.ok(); ++i) {
    Member member;
    member.weight = static_cast<std::uint32_t>(bytes.number(4));
    member.name = bytes.take(bytes.number(1));
    out.members.push_back(std::move(member));
  }
  if (!bytes.ok() || bytes.left() != std::size_t{out.row_count} * 2 * sizeof(MemberIndex)) return damaged();
  out.holder = take_indices(bytes, out.row_count);
  out.former = take_indices(bytes, out.row_count);
  if (auto checked = check_seating(out); !checked) return tl::unexpected(std::move(checked.error()));
  return out;
}

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace guideway
