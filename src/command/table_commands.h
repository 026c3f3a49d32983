// Table commands: table show, digest, diff: the rows of a pool, for eyes and for comparison.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> show_table(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> digest_table(Context& context, const Arguments& arguments);
// Against the rows that `table show POOL --json` printed elsewhere, or without a file against the rows with
// every backend up.
[[nodiscard]] Result<nlohmann::json> diff_table(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_table(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_digests(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_diff(const nlohmann::json& answer, bool color);

}  // namespace guideway
