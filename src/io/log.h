// Log: DPDK's messages in the daemon's own log.
// What: while the object lives, every rte_log line goes through spdlog with its level; what libbpf says for DPDK and
//       for us likewise, for those who debug.
// Why:  one log, one format, one level for the operator.
// Thread: made before the EAL starts, by the main thread; messages may come from any thread.
// Not:  the data plane, which logs nothing.
#pragma once

#include <cstdio>
#include <memory>

namespace guideway {

class DpdkLog {
 public:
  DpdkLog();
  ~DpdkLog();
  DpdkLog(const DpdkLog&) = delete;
  DpdkLog& operator=(const DpdkLog&) = delete;

 private:
  std::FILE* stream_ = nullptr;
};

}  // namespace guideway
