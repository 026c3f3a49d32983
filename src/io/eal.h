// EAL: DPDK's environment, started once for the process and cleaned up when the object goes.
// What: settings -> arguments (pure, tested as a table) -> rte_eal_init, with hugepages where there are any.
// Why:  without --no-pci the EAL probes the machine's own NIC; with a fixed prefix two daemons collide;
// without
//       --in-memory a kill -9 leaves files behind.
// Thread: the main thread, which becomes the main lcore and keeps off the workers' CPUs where it can.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "guideway/result.h"

namespace guideway {

enum class MemoryMode : std::uint8_t { hugepages, ordinary };

struct EalSettings {
  std::vector<unsigned> workers;         // lcores, each bound to the CPU of its number
  std::vector<unsigned> cpus;            // CPUs that this process may use
  std::vector<std::string> pci_devices;  // none: PCI is not looked at
  MemoryMode memory = MemoryMode::hugepages;
  std::uint32_t memory_mb = 256;    // with MemoryMode::ordinary
  bool capture = false;             // file-backed hugepages, for dpdk-dumpcap
  std::string prefix = "guideway";  // name of the runtime directory; unique on the host
};

// The arguments behind argv[0]. Refused: no worker, a worker twice, a worker's CPU that this process may not
// use.
[[nodiscard]] Result<std::vector<std::string>> eal_arguments(const EalSettings& settings);

[[nodiscard]] std::vector<unsigned> usable_cpus();
// Free hugepages of any size on any node.
[[nodiscard]] std::uint64_t free_hugepages();

class Eal {
 public:
  [[nodiscard]] static Result<Eal> start(const EalSettings& settings);
  Eal(Eal&& other) noexcept
      : running_(std::exchange(other.running_, false)), capture_(std::exchange(other.capture_, false)) {}
  Eal& operator=(Eal&&) = delete;
  ~Eal();

 private:
  Eal() = default;
  bool running_ = true;
  bool capture_ = false;  // dpdk-dumpcap may ask for copies of packets
};

}  // namespace guideway
