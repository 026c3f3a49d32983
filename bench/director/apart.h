// Apart: a measurement in a process of its own, as the EAL starts once a process.
#pragma once

#include <rte_eal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <type_traits>

#include "bench/director/give_up.h"

namespace guideway::bench {

// What `work` answers in a child; ends this process where the child did not get there. No thread runs yet.
template <class Work>
auto apart(Work work) {
  using Measured = std::invoke_result_t<Work>;
  static_assert(std::is_trivially_copyable_v<Measured>, "it comes through a pipe");
  int ends[2];
  if (pipe(ends) != 0) give_up("no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) give_up("no process");
  if (child == 0) {
    close(ends[0]);
    const Measured answer = work();
    // The telemetry socket's directory, which the EAL leaves to what is registered for an exit.
    std::error_code ignored;
    std::filesystem::remove_all(rte_eal_get_runtime_dir(), ignored);
    _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
  }
  close(ends[1]);
  Measured answer{};
  const bool whole = read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || !whole) give_up("a measurement broke off");
  return answer;
}

}  // namespace guideway::bench
