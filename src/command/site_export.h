// Site export: a version of the site as one JSON document, and back.
// What: {"epoch", "site": the TOML, "seatings": {POOL: {"seed", "rows", "members", "holder", "former"}}}; holder and
//       former are indices into members, 65535 for nobody.
// Why:  seatings have a history, so a site alone does not say who serves which row: a director that takes over from
//       another one needs both.
// Not:  whether the seatings are of the site's pools; the plan checks that (state/seatings.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "guideway/result.h"
#include "state/site_file.h"
#include "state/site_version.h"

namespace guideway {

struct ImportedSite {
  ParsedSite parsed;
  Seatings seatings;  // empty where the text was a site file
};

[[nodiscard]] nlohmann::json export_json(const SiteVersion& version);
// Takes a site as TOML or an export as JSON, whichever the text is. `name` stands in the messages.
[[nodiscard]] Result<ImportedSite> parse_import(const std::string& text, const std::string& name);

}  // namespace guideway
