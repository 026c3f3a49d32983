// Site file: the site as TOML, read with line:column errors and written back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "guideway/result.h"
#include "state/site.h"

namespace guideway {

struct ParsedSite {
  Site site;
  std::vector<std::string> warnings;  // "site.toml: hash_seed is absent: …"
};

// `name` stands in the messages ("site.toml:12:9: weight 70000 is above 65535"). Unknown keys are errors.
[[nodiscard]] Result<ParsedSite> parse_site(std::string_view toml, std::string_view name);
// The form alone: pools and services that need not be a site on their own.
[[nodiscard]] Result<Site> parse_site_part(std::string_view toml, std::string_view name);
[[nodiscard]] Result<ParsedSite> read_site(const std::string& path);
// Parses back to an equal site.
[[nodiscard]] std::string print_site(const Site& site);
// What parse_site checks beyond the document's form; also run on every change.
[[nodiscard]] Result<void> check_site(const Site& site);
// The same, where `good` has been checked: looks at what the site does not share with it, and at what that touches.
[[nodiscard]] Result<void> check_site(const Site& site, const Site& good);

}  // namespace guideway
