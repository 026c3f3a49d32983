// A version is one file, site-<epoch>.toml, and a seating another, seating-<hash>, that versions refer to. Both
// are written aside (.tmp), made durable, and renamed; a version's name appears only after its seatings are there.
#include "state/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "state/seating_file.h"
#include "state/seatings.h"
#include "state/version_file.h"

namespace guideway {
namespace {

constexpr std::string_view version_prefix = "site-", version_suffix = ".toml";
constexpr std::string_view highest_prefix = "highest-epoch-";  // an empty file, renamed with every version
constexpr std::string_view seating_prefix = "seating-", unfinished_suffix = ".tmp";
constexpr std::size_t epoch_digits = 20;  // so that names sort by epoch

using SeatingHashes = std::map<std::string, std::string>;  // pool -> hash

std::string version_name(Epoch epoch) {
  return fmt::format("{}{:0{}}{}", version_prefix, to_index(epoch), epoch_digits, version_suffix);
}
std::string highest_name(Epoch epoch) {
  return fmt::format("{}{:0{}}", highest_prefix, to_index(epoch), epoch_digits);
}
std::string seating_name(const std::string& hash) { return fmt::format("{}{}", seating_prefix, hash); }

std::optional<Epoch> epoch_in(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (name.size() != prefix.size() + epoch_digits + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix))
    return std::nullopt;
  const char* begin = name.data() + prefix.size();
  std::uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(begin, begin + epoch_digits, epoch);
  if (error != std::errc{} || end != begin + epoch_digits) return std::nullopt;
  return Epoch{epoch};
}

bool is_unfinished(std::string_view name) {
  return name.ends_with(unfinished_suffix) &&
         (name.starts_with(version_prefix) || name.starts_with(seating_prefix) ||
          name.starts_with(highest_prefix));
}

}  // namespace

struct Journal::Impl {
  std::unique_ptr<Disk> disk;
  // The versions on disk; nullopt where the file is damaged (then no seating is cleaned away).
  std::map<Epoch, std::optional<SeatingHashes>> versions;
  std::set<std::string> seatings_on_disk;  // hashes
  std::set<Epoch> marks;                   // of the highest epoch: one, but for a crash at the wrong moment
  // Seatings that this process has read or written, so that the file is known to be good.
  std::map<std::string, std::weak_ptr<const Seating>> known;
  std::map<std::string, std::pair<std::shared_ptr<const Seating>, std::string>>
      newest;  // pool -> seating, hash

  Result<void> scan() {
    auto names = disk->list();
    if (!names) return tl::unexpected(std::move(names.error()));
    for (const std::string& name : *names) {
      if (is_unfinished(name)) {
        if (auto removed = disk->remove(name); !removed) return removed;
      } else if (auto mark = epoch_in(name, highest_prefix, "")) {
        marks.insert(*mark);
      } else if (auto epoch = epoch_in(name, version_prefix, version_suffix)) {
        auto bytes = disk->read(name);
        auto hashes = bytes ? seatings_in(*bytes, name) : tl::unexpected(bytes.error());
        versions.emplace(*epoch, hashes ? std::optional(std::move(*hashes)) : std::nullopt);
      } else if (name.starts_with(seating_prefix)) {
        seatings_on_disk.insert(name.substr(seating_prefix.size()));
      }
    }
    clean();
    return {};
  }

  Result<std::shared_ptr<const Seating>> load_seating(const std::string& hash) {
    if (auto found = known.find(hash); found != known.end())
      if (auto seating = found->second.lock()) return seating;
    auto bytes = disk->read(seating_name(hash));
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    const std::string where = disk->place(seating_name(hash));
    if (content_hash(*bytes) != hash) return fail(ErrorKind::internal, "the seating is damaged", where);
    auto parsed = parse_seating(*bytes);
    if (!parsed) return fail(ErrorKind::internal, parsed.error().what, where);
    auto seating = std::make_shared<const Seating>(std::move(*parsed));
    known[hash] = seating;
    return seating;
  }

  Result<SiteVersion> read_version(Epoch epoch) {
    const std::string name = version_name(epoch);
    auto bytes = disk->read(name);
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    auto file = parse_version(*bytes, disk->place(name));
    if (!file) return tl::unexpected(std::move(file.error()));
    if (file->epoch != epoch)
      return fail(ErrorKind::internal, fmt::format("the file holds epoch {}", to_index(file->epoch)),
                  disk->place(name));
    SiteVersion out{epoch, std::move(file->site), {}};
    for (const Pool& pool : out.site.pools) {
      auto seating = load_seating(file->seatings[pool.name]);
      if (!seating) return tl::unexpected(std::move(seating.error()));
      if (!fits(**seating, out.site, pool))
        return fail(ErrorKind::internal,
                    fmt::format("the seating of pool \"{}\" is not of its backends", pool.name),
                    disk->place(name));
      out.seatings.emplace(pool.name, std::move(*seating));
    }
    newest_hashes(out, file->seatings);
    return out;
  }

  void newest_hashes(const SiteVersion& version, const SeatingHashes& hashes) {
    if (version.epoch != versions.rbegin()->first) return;
    newest.clear();
    for (const auto& [pool, seating] : version.seatings)
      newest.emplace(pool, std::pair{seating, hashes.at(pool)});
  }

  // What to do about a version that cannot be read.
  Error with_advice(Error error, Epoch epoch) const {
    const std::string file = disk->place(version_name(epoch));
    const auto found = versions.find(epoch);
    error.what = fmt::format("epoch {} of the site cannot be used: {}", to_index(epoch), error.what);
    error.next =
        found == versions.begin()
            ? fmt::format("restore it from a backup, or move {} away and start with --site FILE", file)
            : fmt::format("restore it from a backup, or move {} away to go on with epoch {}", file,
                          to_index(std::prev(found)->first));
    return error;
  }

  Result<void> put(const std::string& name, std::string_view bytes) {
    const std::string unfinished = name + std::string(unfinished_suffix);
    auto done = disk->write(unfinished, bytes);
    if (done) done = disk->rename(unfinished, name);
    if (!done) (void)disk->remove(unfinished);
    return done;
  }

  // The hash of each pool's seating, each of them on disk (its name perhaps not yet durable: `written`).
  // A file that somebody took away since is written anew.
  Result<SeatingHashes> put_seatings(const SiteVersion& version, bool& written) {
    SeatingHashes hashes;
    if (auto done = find_seatings(); !done) return tl::unexpected(std::move(done.error()));
    for (const auto& [pool, seating] : version.seatings) {
      if (auto old = newest.find(pool); old != newest.end() && old->second.first == seating &&
                                        seatings_on_disk.contains(old->second.second)) {
        hashes.emplace(pool, old->second.second);
        continue;
      }
      const std::string bytes = seating_bytes(*seating);
      std::string hash = content_hash(bytes);
      const auto found = known.find(hash);
      if (found == known.end() || !seatings_on_disk.contains(hash)) {
        if (auto done = put(seating_name(hash), bytes); !done) return tl::unexpected(std::move(done.error()));
        seatings_on_disk.insert(hash);
        written = true;
      }
      known[hash] = seating;
      hashes.emplace(pool, std::move(hash));
    }
    return hashes;
  }

  // What stands in the directory now.
  Result<void> find_seatings() {
    auto names = disk->list();
    if (!names) return tl::unexpected(std::move(names.error()));
    seatings_on_disk.clear();
    for (const std::string& name : *names)
      if (name.starts_with(seating_prefix) && !is_unfinished(name))
        seatings_on_disk.insert(name.substr(seating_prefix.size()));
    return {};
  }

  [[nodiscard]] Epoch highest() const {
    const Epoch version = versions.empty() ? Epoch{0} : versions.rbegin()->first;
    return marks.empty() ? version : std::max(version, *marks.rbegin());
  }

  // Before the version itself, and made durable with its name.
  Result<void> mark_highest(Epoch epoch) {
    const std::string name = highest_name(epoch);
    const auto old = marks.empty() ? std::nullopt : std::optional(*marks.rbegin());
    marks.insert(epoch);
    auto done = old ? disk->rename(highest_name(*old), name) : put(name, {});
    if (!done && old) done = put(name, {});  // somebody took it away
    if (!done) {
      marks.erase(epoch);
    } else if (old) {
      marks.erase(*old);
    }
    return done;
  }

  Result<void> store(const SiteVersion& version) {
    if (version.epoch <= highest())
      return fail(ErrorKind::internal,
                  fmt::format("epoch {} is not above {}, the highest of the journal", to_index(version.epoch),
                              to_index(highest())),
                  disk->place(""), "restart guidewayd");
    bool written = false;
    auto hashes = put_seatings(version, written);
    if (!hashes) return tl::unexpected(std::move(hashes.error()));
    if (written)
      if (auto synced = disk->sync_names(); !synced) return synced;
    if (auto marked = mark_highest(version.epoch); !marked) return marked;
    // What is remembered of it is allocated before it is on disk, so that nothing can fail after that.
    auto remembered = std::optional(*hashes);
    struct Place {
      decltype(Impl::versions)& versions;
      decltype(Impl::versions)::iterator at;
      bool kept = false;
      ~Place() {
        if (!kept) versions.erase(at);
      }
    } place{versions, versions.emplace(version.epoch, std::nullopt).first};
    const std::string name = version_name(version.epoch);
    auto done = put(name, version_bytes({version.epoch, *hashes, version.site}));
    if (!done) return done;
    done = disk->sync_names();
    if (!done) {
      (void)disk->remove(name);  // the change is refused, so it must not be there after a restart either
      return done;
    }
    place.at->second.swap(remembered);
    place.kept = true;
    try {
      newest_hashes(version, *hashes);
      clean();
    } catch (const std::exception&) {  // they save time and space, and the next version makes up for it
      newest.clear();
    }
    return {};
  }

  // Keeps the newest versions and what they refer to. What fails here is tried again with the next version.
  void clean() {
    while (versions.size() > versions_kept) {
      if (!disk->remove(version_name(versions.begin()->first))) return;
      versions.erase(versions.begin());
    }
    while (marks.size() > 1 && disk->remove(highest_name(*marks.begin()))) marks.erase(marks.begin());
    std::set<std::string> used;
    for (const auto& [epoch, hashes] : versions) {
      if (!hashes) return;
      for (const auto& [pool, hash] : *hashes) used.insert(hash);
    }
    std::erase_if(seatings_on_disk, [&](const std::string& hash) {
      return !used.contains(hash) && disk->remove(seating_name(hash));
    });
    std::erase_if(known, [&](const auto& entry) { return !used.contains(entry.first); });
  }
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::filesystem::path& state_dir) {
  auto disk = open_directory(state_dir);
  if (!disk) return tl::unexpected(std::move(disk.error()));
  return open(std::move(*disk));
}

Result<Journal> Journal::open(std::unique_ptr<Disk> disk) {
  auto impl = std::make_unique<Impl>();
  impl->disk = std::move(disk);
  if (auto scanned = impl->scan(); !scanned) return tl::unexpected(std::move(scanned.error()));
  return Journal(std::move(impl));
}

Result<std::optional<SiteVersion>> Journal::load() const {
  if (impl_->versions.empty()) return std::nullopt;
  const Epoch epoch = impl_->versions.rbegin()->first;
  auto version = impl_->read_version(epoch);
  if (!version) return tl::unexpected(impl_->with_advice(std::move(version.error()), epoch));
  return std::move(*version);
}

Result<std::optional<SiteVersion>> Journal::load_previous() const {
  if (impl_->versions.size() < 2) return std::nullopt;
  const Epoch epoch = std::next(impl_->versions.rbegin())->first;
  auto version = impl_->read_version(epoch);
  if (!version) return tl::unexpected(impl_->with_advice(std::move(version.error()), epoch));
  return std::move(*version);
}

Epoch Journal::highest() const { return impl_->highest(); }

Result<void> Journal::store(const SiteVersion& version) { return impl_->store(version); }

}  // namespace guideway
