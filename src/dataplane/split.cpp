#include "dataplane/split.h"

#include <algorithm>
#include <cstring>

#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/protocols.h"

namespace guideway {
namespace {

constexpr std::uint16_t more_fragments_bit = 0x2000;
constexpr std::size_t header_max = 60;

struct Header {
  std::array<std::uint8_t, header_max> bytes;
  std::size_t size = 0;
};

// The header of the pieces behind the first: options whose copied bit is not set are left out, and the rest is padded.
Header header_of_later_pieces(const Header& whole) {
  Header later = whole;
  std::size_t to = net::ipv4_size;
  for (std::size_t at = net::ipv4_size; at < whole.size;) {
    const std::uint8_t type = whole.bytes[at];
    constexpr std::uint8_t end_of_list = 0, no_operation = 1, copied = 0x80;
    if (type == end_of_list) break;
    if (type == no_operation) {
      ++at;
      continue;
    }
    // A length that lies ends the list; what the receiver makes of the first piece is its own affair.
    const std::size_t size = at + 1 < whole.size ? whole.bytes[at + 1] : 0;
    if (size < 2 || at + size > whole.size) break;
    if ((type & copied) != 0) {
      std::memcpy(later.bytes.data() + to, whole.bytes.data() + at, size);
      to += size;
    }
    at += size;
  }
  later.size = (to + 3) / 4 * 4;
  std::fill(later.bytes.begin() + static_cast<std::ptrdiff_t>(to),
            later.bytes.begin() + static_cast<std::ptrdiff_t>(later.size), std::uint8_t{0});
  later.bytes[0] = static_cast<std::uint8_t>(0x40 | later.size / 4);
  return later;
}

// Writes the piece's header at its beginning.
void finish(rte_mbuf& piece, Header header, std::size_t offset, bool more) {
  std::uint8_t* ip = header.bytes.data();
  net::store_be16(ip + 2, static_cast<std::uint16_t>(piece.pkt_len));
  net::store_be16(ip + 6, static_cast<std::uint16_t>((more ? more_fragments_bit : 0) | offset / 8));
  net::store<std::uint16_t>(ip + 10, 0);
  net::store(ip + 10, net::ChecksumSum{}.add({ip, header.size}).checksum());
  std::memcpy(rte_pktmbuf_mtod(&piece, std::uint8_t*), ip, header.size);
}

}  // namespace

Verdict split(const rte_mbuf& mbuf, const Packet& packet, std::size_t room, rte_mempool* mbufs,
              Pieces& pieces) {
  pieces.count = 0;
  if (mbufs == nullptr) return Verdict::drop_no_buffer;
  Header header;
  const auto* ip = rte_pktmbuf_mtod_offset(&mbuf, const std::uint8_t*, packet.ip_offset);
  header.size = std::size_t{ip[0]} % 16 * 4;
  std::memcpy(header.bytes.data(), ip, header.size);
  const Header later = header_of_later_pieces(header);

  const std::size_t end = packet.ip_length;
  for (std::size_t at = header.size; at < end;) {
    const Header& own = pieces.count == 0 ? header : later;
    // All but the last piece hold a multiple of eight bytes.
    const std::size_t whole = end - at;
    const std::size_t fitting = room < own.size + 8 ? 0 : (room - own.size) / 8 * 8;
    const std::size_t bytes = own.size + whole <= room ? whole : fitting;
    if (bytes == 0 || pieces.count == Pieces::count_max) {
      pieces.free();
      return Verdict::drop_too_big;
    }
    // The bytes in front of the payload, as many as the header has, are copied with it and then overwritten.
    rte_mbuf* piece =
        rte_pktmbuf_copy(&mbuf, mbufs, static_cast<std::uint32_t>(packet.ip_offset + at - own.size),
                         static_cast<std::uint32_t>(own.size + bytes));
    if (piece == nullptr) {
      pieces.free();
      return Verdict::drop_no_buffer;
    }
    piece->ol_flags = 0;
    piece->packet_type = 0;
    piece->tx_offload = 0;
    piece->vlan_tci = 0;
    const std::size_t offset = packet.fragment_offset + at - header.size;
    finish(*piece, own, offset, packet.more_fragments || at + bytes < end);
    pieces.mbufs[pieces.count++] = piece;
    at += bytes;
  }
  return Verdict::forward;
}

}  // namespace guideway
