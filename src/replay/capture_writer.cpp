#include "replay/capture_writer.h"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "replay/pcap_handle.h"

namespace guideway {
namespace {

constexpr int snap_length = 262144;  // what libpcap itself reads at most

struct DumperClose {
  void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
};

}  // namespace

struct CaptureWriter::Impl {
  std::string path, beside;
  PcapHandle pcap;
  std::unique_ptr<pcap_dumper_t, DumperClose> dumper;

  ~Impl() {
    if (!dumper) return;
    dumper.reset();
    ::unlink(beside.c_str());
  }
};

CaptureWriter::CaptureWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter::~CaptureWriter() = default;

Result<CaptureWriter> CaptureWriter::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->beside = fmt::format("{}.{}.part", path, ::getpid());
  impl->pcap.reset(pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snap_length, PCAP_TSTAMP_PRECISION_NANO));
  if (!impl->pcap) return fail(ErrorKind::internal, "no memory to write it", path);
  impl->dumper.reset(pcap_dump_open(impl->pcap.get(), impl->beside.c_str()));
  if (!impl->dumper)
    return fail(ErrorKind::refused, fmt::format("cannot be written: {}", pcap_geterr(impl->pcap.get())), path,
                "choose a place for --out that you may write to");
  return CaptureWriter(std::move(impl));
}

void CaptureWriter::write(std::span<const std::uint8_t> frame, CaptureTime time) {
  pcap_pkthdr header{};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  header.ts.tv_sec = seconds.count();
  header.ts.tv_usec = (time - seconds).count();
  header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
  pcap_dump(reinterpret_cast<u_char*>(impl_->dumper.get()), &header, frame.data());
}

Result<void> CaptureWriter::finish() {
  // pcap_dump answers nothing; the stream remembers.
  const bool written =
      pcap_dump_flush(impl_->dumper.get()) == 0 && std::ferror(pcap_dump_file(impl_->dumper.get())) == 0;
  const int error = errno;
  if (!written)
    return fail(ErrorKind::refused, fmt::format("cannot be written: {}", std::strerror(error)), impl_->path,
                "see whether the disk is full");
  impl_->dumper.reset();
  if (std::rename(impl_->beside.c_str(), impl_->path.c_str()) == 0) return {};
  const int rename_error = errno;
  ::unlink(impl_->beside.c_str());
  return fail(ErrorKind::refused, fmt::format("cannot be written: {}", std::strerror(rename_error)),
              impl_->path, "choose a place for --out that you may write to");
}

}  // namespace guideway
