#include "io/xsk_slot.h"

#include <bpf/bpf.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>

#include "guideway/fd.h"

namespace guideway {
namespace {

constexpr std::size_t chunk = 4096;

// An AF_XDP socket as far as a map takes it: with memory and rings, bound to no interface.
class IdleSocket {
 public:
  IdleSocket()
      : memory_(::mmap(nullptr, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        socket_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    if (memory_ == MAP_FAILED || !socket_) return;
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uintptr_t>(memory_);
    memory.len = memory.chunk_size = chunk;
    set(XDP_UMEM_REG, &memory, sizeof memory);
    const int entries = 1;
    for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING})
      set(ring, &entries, sizeof entries);
  }
  ~IdleSocket() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, chunk);
  }
  IdleSocket(const IdleSocket&) = delete;
  IdleSocket& operator=(const IdleSocket&) = delete;

  [[nodiscard]] int get() const { return socket_.get(); }

 private:
  // What fails here shows when the map refuses the socket.
  void set(int option, const void* value, socklen_t size) {
    (void)::setsockopt(socket_.get(), SOL_XDP, option, value, size);
  }
  void* memory_;
  Fd socket_;
};

}  // namespace

bool xsk_slot_in_use(int map, std::uint32_t slot) {
  const IdleSocket idle;
  const int socket = idle.get();
  if (bpf_map_update_elem(map, &slot, &socket, BPF_NOEXIST) != 0) return errno == EEXIST;
  bpf_map_delete_elem(map, &slot);
  return false;
}

}  // namespace guideway
