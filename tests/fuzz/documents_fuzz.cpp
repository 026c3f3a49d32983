// Fuzz: the site's and the director's documents. Whatever is accepted prints and parses back to the same; whatever
// is refused says where.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "state/director_config.h"
#include "state/site_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace guideway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = parse_site(text, "s")) {
    const auto again = parse_site(print_site(parsed->site), "s");
    if (!again || !(again->site == parsed->site)) std::abort();
  } else if (!parsed.error().where.starts_with("s:")) {
    std::abort();
  }
  if (const auto config = parse_director(text, "d"); !config && !config.error().where.starts_with("d:"))
    std::abort();
  return 0;
}
