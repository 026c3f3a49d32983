// Slots: 16,384 numbered slots in ranges, as in Redis Cluster.
// What: a key's slot is the CRC16 of its hash tag, or of all of it, modulo 16,384; nodes hold equal numbers of slots.
//       From nothing the ranges are contiguous, in name order; a change moves the fewest slots that make it even.
// Why:  the table is short enough to be passed around and edited by hand.
// Not:  weights. Who gave a slot is not remembered: a node that comes and goes leaves other ranges behind.
// Source: the Redis Cluster specification.
#pragma once

#include <cstdint>
#include <string_view>

namespace guideway {

inline constexpr std::uint32_t slot_count = 16384;

// CRC-16/XMODEM: polynomial 0x1021, from 0, not reflected.
[[nodiscard]] std::uint16_t crc16(std::string_view bytes);

// The part of a key that decides: what stands between the first { and the next }, if anything does, else all.
[[nodiscard]] std::string_view hash_tag(std::string_view key);

[[nodiscard]] std::uint32_t slot_of(std::string_view key);

}  // namespace guideway
