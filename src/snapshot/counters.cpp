#include "snapshot/counters.h"

#include <sys/mman.h>

#include <new>

namespace guideway {
namespace {

// Zero pages on demand; the kernel's zero is the counters' start value.
template <class T>
T* reserve(std::size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

}  // namespace

WorkerCounters::WorkerCounters()
    : backends_(reserve<BackendCounters>(backend_ids_max)),
      marks_(reserve<BackendMarks>(backend_ids_max)),
      services_(reserve<ServiceCounters>(service_ids_max)) {}

WorkerCounters::~WorkerCounters() {
  munmap(marks_, backend_ids_max * sizeof(BackendMarks));
  munmap(backends_, backend_ids_max * sizeof(BackendCounters));
  munmap(services_, service_ids_max * sizeof(ServiceCounters));
}

}  // namespace guideway
