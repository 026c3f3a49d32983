// The shared list: a value like a vector's, whatever its copies share; and the site on top of it: what is shared is not
// looked at again, and nothing is overlooked by that.
#include "state/shared_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sites.h"
#include "state/site_check.h"

namespace guideway {
namespace {

using Words = SharedList<std::string>;

TEST(SharedList, ACopyDoesNotSeeWhatIsEdited) {
  Words list{"a", "b", "c"};
  const Words copy = list;
  EXPECT_TRUE(copy.shares(list));
  list.edit(1) = "B";
  list.erase(0);
  list.push_back("d");
  EXPECT_EQ(copy, (Words{"a", "b", "c"}));
  EXPECT_EQ(list, (Words{"B", "c", "d"}));
  EXPECT_EQ(list.share(1), copy.share(2)) << "what nobody touched is shared";
}

TEST(SharedList, IsComparedAsAValue) {
  EXPECT_EQ(Words(), Words{std::vector<std::string>()});
  EXPECT_EQ((Words{"a", "b"}), (Words{"a", "b"}));
  EXPECT_FALSE((Words{"a", "b"}) == (Words{"a"}));
  EXPECT_FALSE((Words{"a", "b"}) == (Words{"a", "c"}));
}

TEST(SharedList, AValueIsToldByItsAddress) {
  const Words list{"a", "b"};
  Words other = list;
  other.edit(0) = "a";
  const SharedWith<std::string> known(list);
  EXPECT_FALSE(known.contains(other[0])) << "equal, and another one";
  EXPECT_TRUE(known.contains(other[1]));
}

TEST(SharedSite, ADocumentSharesWhatItHasInCommonWithThePresentSite) {
  Site present = sites::site(3);
  Pool other = sites::pool(2);
  other.name = "api";
  present.pools.push_back(other);
  Site document = sites::site(4);
  document.pools.push_back(other);
  const Site shared = sharing(document, present);
  EXPECT_EQ(shared, document);
  EXPECT_NE(shared.pools.share(0), present.pools.share(0));
  EXPECT_EQ(shared.pools.share(1), present.pools.share(1));
  EXPECT_TRUE(shared.services.shares(present.services));
}

// One edit of a site, as a hand would make it, good or bad.
void edit(Site& site) {
  const auto any_of = [](std::size_t size) { return *rc::gen::inRange<std::size_t>(0, size); };
  const auto pool = [&]() -> Pool& { return site.pools.edit(any_of(site.pools.size())); };
  const auto service = [&]() -> Service& { return site.services.edit(any_of(site.services.size())); };
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      if (!site.pools.empty()) site.pools.erase(any_of(site.pools.size()));
      break;
    case 1:
      if (!site.services.empty()) site.services.erase(any_of(site.services.size()));
      break;
    case 2:
      if (!site.pools.empty()) pool().rows = *rc::gen::element(251U, 1000U, 19'999'999U);
      break;
    case 3:
      if (!site.pools.empty()) pool().name = *rc::gen::element("web", "api", "no name");
      break;
    case 4:
      if (!site.services.empty()) service().pool = *rc::gen::element("web", "api", "");
      break;
    case 5:
      if (!site.services.empty()) service().ports = {{80, 80}};
      break;
    case 6:
      if (!site.services.empty()) service().address = sites::ip("10.0.0.1");
      break;
    case 7:
      if (!site.pools.empty()) pool().backends.push_back(sites::backend(*rc::gen::inRange(0, 3)));
      break;
    default:
      site.pools.push_back(sites::pool(2));
  }
}

std::string text_of(const std::optional<SiteFault>& fault) { return fault ? fault->error.text() : "none"; }

TEST(SharedSite, WhatIsSharedNeedsNoSecondLook) {
  EXPECT_TRUE(rc::check("edits of a good site", [] {
    const Site good = sites::any_valid();
    Site site = good;
    for (int left = *rc::gen::inRange(1, 4); left > 0; --left) edit(site);
    RC_ASSERT(text_of(first_fault(site, good)) == text_of(first_fault(site)));
  }));
}

}  // namespace
}  // namespace guideway
