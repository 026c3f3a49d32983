// Journals: versions to store, and a journal on a simulated disk.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simulated_disk.h"
#include "sites.h"
#include "state/journal.h"
#include "state/plan.h"

namespace guideway {

inline SiteVersion first_version() { return sites::after(SiteVersion{}, ReplaceSite{sites::site(3, 251)}); }

// A chain with every kind of step: deals, a drain, a pool more, a pool less.
inline std::vector<SiteVersion> chain() {
  std::vector<SiteVersion> out{first_version()};
  Pool other = sites::pool(2, 251);
  other.name = "api";
  for (const Change& change : std::vector<Change>{AddBackend{"web", sites::backend(4)},
                                                  SetBackendState{"web", "web-1", BackendState::draining},
                                                  AddPool{other}, RemoveBackend{"web", "web-1"},
                                                  RemovePool{"api"}, AddBackend{"web", sites::backend(1)}})
    out.push_back(sites::after(out.back(), change));
  return out;
}

// The same once more, as the store numbers it.
inline SiteVersion renumbered(SiteVersion version, const Journal& journal) {
  version.epoch = Epoch{to_index(journal.highest()) + 1};
  return version;
}

inline Journal open_on(const std::shared_ptr<Platters>& platters) {
  auto journal = Journal::open(std::make_unique<SimulatedDisk>(platters));
  EXPECT_TRUE(journal) << journal.error().text();
  return std::move(*journal);
}

}  // namespace guideway
