// Program: the eBPF object in the kernel.
// What: picks the object for the running kernel, sets its constants and loads it, with fresh maps or with
// those
//       that are pinned already.
// Not:  attaching (attachment.h).
#pragma once

#include <memory>

#include "agent/maps.h"

struct bpf_object;

namespace guideway::agent {

struct ProgramOptions {
  std::uint16_t udp_port = udp_port_default;
  bool multi_buffer = false;    // frames longer than a page; kernel 5.18 and a driver that can
  const Maps* maps = nullptr;   // to be reused; else fresh ones
  bool force_portable = false;  // the object without kernel types, although this kernel has them
};

class Program {
 public:
  [[nodiscard]] static Result<Program> load(const ProgramOptions& options);

  [[nodiscard]] int receive() const;  // the XDP program
  [[nodiscard]] int send_on() const;  // the tc program
  [[nodiscard]] Result<Maps> maps() const;
  [[nodiscard]] bool kernel_types() const { return kernel_types_; }

 private:
  struct Close {
    void operator()(bpf_object* object) const;
  };
  std::unique_ptr<bpf_object, Close> object_;
  bool kernel_types_ = false;
};

}  // namespace guideway::agent
