// Program: the eBPF object in the kernel.
// What: the objects in this binary, best first; sets the constants of one and loads it, with fresh maps or with those
//       that are there already. What the kernel refuses is not the end: the next one is tried.
// Not:  attaching (attachment.h).
#pragma once

#include <memory>
#include <vector>

#include "agent/maps.h"

struct bpf_object;

namespace guideway::agent {

struct ProgramOptions {
  std::uint16_t udp_port = udp_port_default;
  bool multi_buffer = false;   // frames longer than a page; kernel 5.18 and a driver that can
  const Maps* maps = nullptr;  // to be reused; else fresh ones
};

// An eBPF object as it lies in this binary.
struct Object {
  const void* bytes = nullptr;
  std::size_t size = 0;
  bool kernel_types =
      false;  // it reads the kernel's own structures, where the kernel tells what they are like
};
[[nodiscard]] Object kernel_typed_object();
[[nodiscard]] Object portable_object();
// Those that the running kernel may take, best first.
[[nodiscard]] std::vector<Object> objects_for_this_kernel();

class Program {
 public:
  // The first of `objects` that the kernel takes.
  [[nodiscard]] static Result<Program> load(const ProgramOptions& options,
                                            const std::vector<Object>& objects = objects_for_this_kernel());

  [[nodiscard]] int receive() const;  // the XDP program
  [[nodiscard]] int send_on() const;  // the tc program
  [[nodiscard]] Result<Maps> maps() const;
  [[nodiscard]] gw_program_kind kind() const { return kind_; }

 private:
  struct Close {
    void operator()(bpf_object* object) const;
  };
  std::unique_ptr<bpf_object, Close> object_;
  gw_program_kind kind_ = GW_PORTABLE_REFUSED;
};

}  // namespace guideway::agent
