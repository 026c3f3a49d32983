// Site view: objects of the site found by name and shown as JSON.
// What: look-ups that refuse an unknown name with the nearest known one; one JSON shape an object, used by
//       every command that lists or shows it.
// Cost: control plane; rows and digests come from the context's recent ones.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "command/context.h"
#include "guideway/result.h"

namespace guideway {

[[nodiscard]] Result<const Pool*> pool_of(const Site& site, std::string_view name);
[[nodiscard]] Result<const Service*> service_of(const Site& site, std::string_view name);
[[nodiscard]] Result<const Backend*> backend_of(const Pool& pool, std::string_view name);

// What a member holds and takes.
struct Share {
  std::uint32_t seats = 0;       // rows whose seat it holds
  std::uint32_t first_rows = 0;  // rows whose new flows it takes
};
[[nodiscard]] std::map<std::string, Share> shares_of(Context& context, const Pool& pool);
[[nodiscard]] Health health_of(const HealthView& health, const std::string& pool, const std::string& backend);

[[nodiscard]] std::string service_target(const Service& service);  // "tcp 203.0.113.10 80,443"
[[nodiscard]] nlohmann::json service_json(const Service& service);
// Why a backend may have flows in no table; null where it has none.
[[nodiscard]] nlohmann::json unseen_json(const std::optional<UnseenFlows>& unseen);
// As the site's document has them.
[[nodiscard]] nlohmann::json settings_json(const Pool& pool);
// Settings, who uses them and the digest; backends are told by backends_json.
[[nodiscard]] nlohmann::json pool_json(Context& context, const Pool& pool);
[[nodiscard]] nlohmann::json backends_json(Context& context, const Pool& pool);

}  // namespace guideway
