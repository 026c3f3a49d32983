#include "command/offline.h"

#include "command/site_export.h"
#include "toml/text_file.h"

namespace guideway {
namespace {

Result<DirectorConfig> director_or_default(const std::string& path) {
  if (!path.empty()) return read_director(path);
  DirectorConfig director;
  director.source_ipv4 = IpAddress::parse("192.0.2.1");
  director.source_ipv6 = IpAddress::parse("2001:db8::1");
  return director;
}

tl::unexpected<Error> no_edit() {
  return fail(ErrorKind::refused, "a file is not changed by commands", {},
              "edit the file, or leave out --site to ask the daemon; `plan` works on a file");
}

}  // namespace

OfflineContext::OfflineContext(const Store& store, DirectorConfig director)
    : ReadContext(store.view(), std::make_shared<const HealthView>(), director_, nullptr),
      director_(std::move(director)) {}

Result<std::unique_ptr<OfflineContext>> OfflineContext::open(const std::string& site,
                                                             const std::string& director) {
  auto config = director_or_default(director);
  if (!config) return tl::unexpected<Error>(config.error());
  auto text = read_text(site);
  if (!text) return tl::unexpected<Error>(text.error());
  auto imported = parse_import(*text, site);
  if (!imported) return tl::unexpected<Error>(imported.error());
  auto store = Store::open(std::nullopt, std::move(imported->parsed.site), std::move(imported->seatings));
  if (!store) return tl::unexpected<Error>(store.error());
  return std::unique_ptr<OfflineContext>(new OfflineContext(*store, std::move(*config)));
}

Result<std::unique_ptr<OfflineContext>> OfflineContext::without_site(const std::string& director) {
  auto config = director_or_default(director);
  if (!config) return tl::unexpected<Error>(config.error());
  auto store = Store::open(std::nullopt, std::nullopt);
  if (!store) return tl::unexpected<Error>(store.error());
  return std::unique_ptr<OfflineContext>(new OfflineContext(*store, std::move(*config)));
}

Result<Plan> OfflineContext::commit(const Change&, const CommitOptions&) { return no_edit(); }
Result<Plan> OfflineContext::plan_undo() {
  return fail(ErrorKind::refused, "a file has no version before this one", {},
              "leave out --site to ask a running director");
}
Result<Plan> OfflineContext::undo(const CommitOptions&) { return no_edit(); }

}  // namespace guideway
