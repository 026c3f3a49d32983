// Changes: what each does, and that every refusal names the object and what was perhaps meant.
#include "state/change.h"

#include <gtest/gtest.h>

#include "sites.h"

namespace guideway {
namespace {

struct Refused {
  const char* description;
  Change change;
  ErrorKind kind;
  const char* message;
};

Backend with_address(Backend backend, const char* address) {
  backend.address = sites::ip(address);
  return backend;
}

std::vector<Refused> refusals() {
  Pool bad_pool = sites::pool(1);
  bad_pool.name = "api";
  bad_pool.rows = 1000;
  Service stray = sites::service("wed");
  stray.name = "alt";
  stray.ports = {{8080, 8080}};
  return {
      {"unknown backend", SetBackendState{"web", "web-9", BackendState::draining}, ErrorKind::not_found,
       "no backend \"web-9\" in pool \"web\"; did you mean \"web-1\"? it has web-1, web-2, web-3"},
      {"unknown backend, nothing near", RemoveBackend{"web", "mail"}, ErrorKind::not_found,
       "no backend \"mail\" in pool \"web\"; it has web-1, web-2, web-3"},
      {"unknown pool", AddBackend{"wob", sites::backend(4)}, ErrorKind::not_found,
       "no pool \"wob\" in the site; did you mean \"web\"? it has web"},
      {"unknown service", RemoveService{"mail"}, ErrorKind::not_found,
       "no service \"mail\" in the site; it has www"},
      {"pool in use", RemovePool{"web"}, ErrorKind::refused,
       "pool \"web\" serves www; remove those services"},
      {"weight 0", SetBackendWeight{"web", "web-1", 0}, ErrorKind::invalid,
       "weight 0 is not a weight; to send no new"},
      {"weight too large", SetBackendWeight{"web", "web-1", 70000}, ErrorKind::invalid,
       "weight 70000 is above 65535"},
      {"another backend of that name", AddBackend{"web", with_address(sites::backend(1), "10.9.9.9")},
       ErrorKind::refused, "pool \"web\" has a backend \"web-1\" already, and it differs"},
      {"address in use", AddBackend{"web", with_address(sites::backend(4), "10.0.0.2")}, ErrorKind::invalid,
       "pool \"web\", backend \"web-4\": address 10.0.0.2 is already that of \"web-1\""},
      {"mixed families", AddBackend{"web", with_address(sites::backend(4), "fd00::4")}, ErrorKind::invalid,
       "pool \"web\", backend \"web-4\": address fd00::4 is of another family"},
      {"bad rows", AddPool{bad_pool}, ErrorKind::invalid,
       "pool \"api\": rows 1000 is no prime; use 997 or 1009"},
      {"service of no pool", AddService{stray}, ErrorKind::invalid,
       "service \"alt\": there is no pool \"wed\"; did you mean \"web\"?"},
  };
}

TEST(Change, RefusalsNameTheObjectAndTheNextStep) {
  for (const Refused& refused : refusals()) {
    const auto site = applied(sites::site(3), refused.change);
    ASSERT_FALSE(site) << refused.description;
    EXPECT_EQ(site.error().kind, refused.kind) << refused.description;
    EXPECT_TRUE(site.error().text().starts_with(refused.message)) << site.error().text();
    EXPECT_FALSE(site.error().next.empty()) << refused.description;
  }
}

TEST(Change, DoesWhatItSays) {
  Site site = sites::site(3);
  const auto apply = [&site](const Change& change) {
    auto changed = applied(site, change);
    ASSERT_TRUE(changed) << changed.error().text();
    site = std::move(*changed);
  };
  apply(AddBackend{"web", sites::backend(4)});
  EXPECT_EQ(site, sites::site(4));
  apply(SetBackendState{"web", "web-2", BackendState::draining});
  EXPECT_EQ(site.pools[0].find_backend("web-2")->state, BackendState::draining);
  apply(SetBackendWeight{"web", "web-2", 7});
  EXPECT_EQ(site.pools[0].find_backend("web-2")->weight, 7U);
  apply(RemoveBackend{"web", "web-2"});
  EXPECT_EQ(site.pools[0].find_backend("web-2"), nullptr);
  apply(RemoveService{"www"});
  EXPECT_TRUE(site.services.empty());
  apply(RemovePool{"web"});
  EXPECT_TRUE(site.pools.empty());
  apply(AddPool{sites::pool(3)});
  apply(AddService{sites::service()});
  EXPECT_EQ(site, sites::site(3));
  apply(ReplaceSite{sites::site(7)});
  EXPECT_EQ(site, sites::site(7));
}

TEST(Change, TheSameObjectAgainIsNoChange) {
  const Site site = sites::site(3);
  for (const Change& change :
       {Change{AddBackend{"web", sites::backend(2)}}, Change{AddPool{sites::pool(3)}},
        Change{AddService{sites::service()}}, Change{SetBackendState{"web", "web-1", BackendState::active}},
        Change{ReplaceSite{site}}})
    EXPECT_EQ(*applied(site, change), site);
}

}  // namespace
}  // namespace guideway
