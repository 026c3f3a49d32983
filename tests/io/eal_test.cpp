// EAL arguments: what the settings of a host become.
#include "io/eal.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace guideway {
namespace {

EalSettings settings(std::vector<unsigned> workers, std::vector<unsigned> cpus) {
  EalSettings out;
  out.workers = std::move(workers);
  out.cpus = std::move(cpus);
  return out;
}

std::string line(const EalSettings& settings) {
  const auto arguments = eal_arguments(settings);
  return arguments ? fmt::format("{}", fmt::join(*arguments, " ")) : arguments.error().text();
}

TEST(EalArguments, MainLcoreKeepsOffTheWorkersCpus) {
  EXPECT_EQ(line(settings({1}, {0, 1})),
            "--lcores 127@(0),1@1 --main-lcore 127 --file-prefix guideway "
            "--no-pci --iova-mode va --in-memory");
}

TEST(EalArguments, MainLcoreSharesWhereWorkersHaveAllCpus) {
  EXPECT_EQ(line(settings({0, 1}, {0, 1})).substr(0, 43), "--lcores 127@(0,1),0@0,1@1 --main-lcore 127");
}

TEST(EalArguments, WithoutHugepagesMemoryIsOrdinary) {
  auto ordinary = settings({1}, {0, 1});
  ordinary.memory = MemoryMode::ordinary;
  ordinary.memory_mb = 300;
  EXPECT_NE(line(ordinary).find("--no-huge --no-shconf -m 300"), std::string::npos) << line(ordinary);
}

TEST(EalArguments, CaptureKeepsHugepageFiles) {
  auto capture = settings({1}, {0, 1});
  capture.capture = true;
  EXPECT_EQ(line(capture).find("--in-memory"), std::string::npos) << line(capture);
}

TEST(EalArguments, PciIsLookedAtOnlyForConfiguredDevices) {
  auto pci = settings({1}, {0, 1});
  pci.pci_devices = {"0000:3b:00.0", "0000:3b:00.1"};
  EXPECT_NE(line(pci).find("-a 0000:3b:00.0 -a 0000:3b:00.1"), std::string::npos) << line(pci);
  EXPECT_EQ(line(pci).find("--no-pci"), std::string::npos) << line(pci);
}

TEST(EalArguments, RefusalsSayWhatToDo) {
  struct Case {
    std::vector<unsigned> workers;
    const char* part;
  };
  const Case cases[] = {{{}, "workers is empty"},
                        {{1, 1}, "worker 1 is named twice"},
                        {{7}, "worker 7 has no CPU: this process may use 0, 1"}};
  for (const auto& one : cases) {
    const auto arguments = eal_arguments(settings(one.workers, {0, 1}));
    ASSERT_FALSE(arguments) << one.part;
    EXPECT_NE(arguments.error().text().find(one.part), std::string::npos) << arguments.error().text();
    EXPECT_FALSE(arguments.error().next.empty());
  }
}

}  // namespace
}  // namespace guideway
