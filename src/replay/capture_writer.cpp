#include "replay/capture_writer.h"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "replay/pcap_handle.h"

namespace guideway {
namespace {

constexpr int snap_length = 262144;  // what libpcap itself reads at most

struct DumperClose {
  void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
};

// What a link leads to, there or not: renamed onto, the link itself would be gone.
std::string behind_link(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target =
      std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path, ignored);
  return std::filesystem::weakly_canonical(target, ignored);
}

}  // namespace

struct CaptureWriter::Impl {
  std::string path, beside;  // the same for what is no file: a pipe or /dev/null is written as it is
  PcapHandle pcap;
  std::unique_ptr<pcap_dumper_t, DumperClose> dumper;

  ~Impl() {
    if (!dumper) return;
    dumper.reset();
    if (beside != path) ::unlink(beside.c_str());
  }
};

CaptureWriter::CaptureWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter::~CaptureWriter() = default;

Result<CaptureWriter> CaptureWriter::create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  std::error_code ignored;
  const bool is_file = !std::filesystem::is_other(path, ignored);
  impl->path = is_file ? behind_link(path) : path;
  impl->beside = is_file ? fmt::format("{}.{}.part", impl->path, ::getpid()) : path;
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
  if (impl_->beside == impl_->path || std::rename(impl_->beside.c_str(), impl_->path.c_str()) == 0) return {};
  const int rename_error = errno;
  ::unlink(impl_->beside.c_str());
  return fail(ErrorKind::refused, fmt::format("cannot be written: {}", std::strerror(rename_error)),
              impl_->path, "choose a place for --out that you may write to");
}

}  // namespace guideway
