#include "replay/capture.h"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "net/ethernet.h"
#include "replay/pcap_handle.h"

namespace guideway {
namespace {

enum class Framing : std::uint8_t { ethernet, raw, null };

std::optional<Framing> framing_of(int link_type) {
  switch (link_type) {
    case DLT_EN10MB:
      return Framing::ethernet;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
      return Framing::raw;
    case DLT_NULL:
    case DLT_LOOP:
      return Framing::null;
    default:
      return std::nullopt;
  }
}

// zlib under a FILE, for libpcap; gzread hands plain files through as they are.
ssize_t gz_read(void* cookie, char* to, std::size_t size) {
  const int count = gzread(static_cast<gzFile>(cookie), to, static_cast<unsigned>(size));
  if (count < 0) errno = EIO;
  return count;
}
int gz_close(void* cookie) { return gzclose(static_cast<gzFile>(cookie)) == Z_OK ? 0 : EOF; }

constexpr auto next_step = "give it a pcap or pcapng file, gzipped or not";

}  // namespace

struct Capture::Impl {
  std::string path, link_type;
  Framing framing = Framing::ethernet;
  PcapHandle pcap;
  std::vector<std::uint8_t> made;  // a frame around a raw packet
  std::uint64_t packets = 0;
};

Capture::Capture(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

const std::string& Capture::link_type() const { return impl_->link_type; }

Result<Capture> Capture::open(const std::string& path) {
  errno = 0;
  gzFile gz = gzopen(path.c_str(), "rb");
  if (gz == nullptr)
    return fail(ErrorKind::invalid, fmt::format("cannot be opened: {}", std::strerror(errno)), path,
                next_step);
  std::FILE* file =
      fopencookie(gz, "rb", {.read = gz_read, .write = nullptr, .seek = nullptr, .close = gz_close});
  if (file == nullptr) {
    gzclose(gz);
    return fail(ErrorKind::internal, "no memory to read it", path);
  }
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  // Takes the FILE, also when it fails later; not when it fails at once.
  PcapHandle pcap(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason.data()));
  if (!pcap) {
    std::fclose(file);
    return fail(ErrorKind::invalid, fmt::format("is no capture: {}", reason.data()), path, next_step);
  }
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  const int link_type = pcap_datalink(pcap.get());
  const char* name = pcap_datalink_val_to_name(link_type);
  impl->link_type = name != nullptr ? name : std::to_string(link_type);
  const auto framing = framing_of(link_type);
  if (!framing)
    return fail(ErrorKind::invalid, fmt::format("its link type is {}", impl->link_type), path,
                "use a capture of Ethernet, raw IP or BSD null");
  impl->framing = *framing;
  impl->pcap = std::move(pcap);
  return Capture(std::move(impl));
}

namespace {

// Around a raw IP packet, `skip` bytes behind the start of `bytes`.
void frame_raw(std::span<const std::uint8_t> bytes, std::size_t skip, std::vector<std::uint8_t>& frame) {
  const auto packet = bytes.subspan(std::min(skip, bytes.size()));
  const unsigned version = packet.empty() ? 0 : packet[0] >> 4;
  const std::uint16_t ethertype = version == 4 ? net::ethertype_ipv4 : version == 6 ? net::ethertype_ipv6 : 0;
  frame.resize(net::ethernet_size + packet.size());
  std::memcpy(frame.data(), capture_director_mac.data(), 6);
  std::memcpy(frame.data() + 6, capture_client_mac.data(), 6);
  net::store_be16(frame.data() + 12, ethertype);
  if (!packet.empty()) std::memcpy(frame.data() + net::ethernet_size, packet.data(), packet.size());
}

}  // namespace

Result<std::optional<CapturedFrame>> Capture::next() {
  Impl& impl = *impl_;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int answer = pcap_next_ex(impl.pcap.get(), &header, &data);
  if (answer == PCAP_ERROR_BREAK) return std::nullopt;
  if (answer != 1)
    return fail(ErrorKind::invalid,
                fmt::format("is broken behind packet {}: {}", impl.packets, pcap_geterr(impl.pcap.get())),
                impl.path, "take the capture again, or cut it with editcap");
  ++impl.packets;
  CapturedFrame frame;
  // Half of what nanoseconds in 64 bits hold, the year 2116, so that sums of times fit too. pcapng can say more.
  constexpr auto seconds_max = std::chrono::floor<std::chrono::seconds>(CaptureTime::max()).count() / 2;
  if (header->ts.tv_sec < 0 || header->ts.tv_sec > seconds_max)
    return fail(ErrorKind::invalid,
                fmt::format("packet {} has a time stamp of {} s, which is no time", impl.packets - 1,
                            header->ts.tv_sec),
                impl.path, "take the capture again, or shift its times with editcap -t");
  frame.bytes = {data, header->caplen};
  frame.truncated = header->caplen < header->len;
  // Asked for in nanoseconds: that is what tv_usec holds.
  frame.time = std::chrono::seconds(header->ts.tv_sec) + std::chrono::nanoseconds(header->ts.tv_usec);
  if (impl.framing != Framing::ethernet) {
    frame_raw(frame.bytes, impl.framing == Framing::null ? 4 : 0, impl.made);
    frame.bytes = impl.made;
  }
  return frame;
}

}  // namespace guideway
