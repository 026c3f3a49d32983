// Simulated disk: a directory in memory that tells what is durable from what is not, for cutting the power.
// What: every operation of the journal is a step; after a chosen number of steps the power fails, and durable()
//       makes the directory as a machine would find it: names since the last sync_names() may or may not be there,
//       the bytes of a file being written may be cut anywhere.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "state/disk.h"

namespace guideway {

// What is on the platters; outlives the Disk objects that use it.
struct Platters {
  std::map<std::string, std::string> files;               // as running programs see them
  std::map<std::string, std::string> durable;             // as they were at the last sync_names()
  std::vector<std::map<std::string, std::string>> since;  // after each name operation since then
  std::size_t steps = 0;
  std::size_t steps_until_cut = SIZE_MAX;
  std::mt19937 parts{1};   // how much of a failing write is done
  bool fail_only = false;  // the step fails, but the power stays on

  struct Begun {
    std::string name;
    std::size_t offset = 0;
    std::string bytes;
  };
  std::optional<Begun> begun;  // an overwrite that is not durable yet

  [[nodiscard]] bool cut() const { return steps > steps_until_cut && !fail_only; }

  // The directory after a power cut and a restart. Journalling file systems keep name operations in their order, so
  // that some first part of those since the last sync is there. Of an overwrite, any of the bytes: some first part, some
  // last part, all of them.
  [[nodiscard]] std::map<std::string, std::string> after_cut(std::mt19937& random) const {
    const std::size_t kept = std::uniform_int_distribution<std::size_t>(0, since.size())(random);
    std::map<std::string, std::string> out = kept == 0 ? durable : since[kept - 1];
    if (!begun) return out;
    const std::size_t size = begun->bytes.size(), half = size / 2;
    const std::vector<std::pair<std::size_t, std::size_t>> parts_of{{0, 0},       {0, 1},        {0, half},
                                                                    {half, size}, {0, size - 1}, {0, size}};
    const auto [begin, end] = parts_of[random() % parts_of.size()];
    if (const auto torn = out.find(begun->name); torn != out.end())
      torn->second.replace(begun->offset + begin, end - begin, begun->bytes, begin, end - begin);
    return out;
  }
};

class SimulatedDisk final : public Disk {
 public:
  explicit SimulatedDisk(std::shared_ptr<Platters> platters) : platters_(std::move(platters)) {}

  Result<std::vector<std::string>> list() override {
    std::vector<std::string> out;
    for (const auto& [name, bytes] : platters_->files) out.push_back(name);
    return out;
  }
  Result<std::string> read(const std::string& name) override {
    const auto found = platters_->files.find(name);
    if (found == platters_->files.end()) return fail(ErrorKind::internal, "no such file", name);
    return found->second;
  }
  Result<void> write_file(const std::string& name, std::string_view bytes) override {
    if (!step()) {
      // The file may be there with any first part of its bytes.
      platters_->since.push_back(platters_->files);
      for (const std::size_t part : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
        platters_->since.push_back(platters_->files);
        platters_->since.back()[name] = bytes.substr(0, part);
      }
      return off();
    }
    platters_->files[name] = bytes;
    named();
    return {};
  }
  Result<void> begin_overwrite(const std::string& name, std::size_t offset, std::string_view bytes) override {
    const auto found = platters_->files.find(name);
    if (found == platters_->files.end() || found->second.size() < offset + bytes.size())
      return fail(ErrorKind::internal, "no such bytes", name);
    const bool done = step();
    if (done || !platters_->fail_only) platters_->begun = {name, offset, std::string(bytes)};
    if (!done && !platters_->fail_only) return off();
    const std::size_t part = done ? bytes.size() : platters_->parts() % (bytes.size() + 1);
    found->second.replace(offset, part, bytes.substr(0, part));
    return done ? Result<void>{} : off();
  }
  // Durable on its own; names are where they were.
  Result<void> finish_overwrite() override {
    if (!step()) return off();
    const Platters::Begun begun = std::exchange(platters_->begun, std::nullopt).value();
    const std::string& file = platters_->files.at(begun.name);
    if (const auto there = platters_->durable.find(begun.name); there != platters_->durable.end())
      there->second = file;
    for (auto& later : platters_->since)
      if (const auto there = later.find(begun.name); there != later.end()) there->second = file;
    return {};
  }
  bool holds(const std::string& name) override { return platters_->files.contains(name); }
  Result<void> rename_file(const std::string& from, const std::string& to) override {
    if (!step()) return off();
    auto node = platters_->files.extract(from);
    if (node.empty()) return fail(ErrorKind::internal, "no such file", from);
    platters_->files[to] = std::move(node.mapped());
    named();
    return {};
  }
  Result<void> remove_file(const std::string& name) override {
    if (!step()) return off();
    platters_->files.erase(name);
    named();
    return {};
  }
  Result<void> sync_directory() override {
    if (!step()) return off();
    platters_->durable = platters_->files;
    platters_->since.clear();
    return {};
  }
  [[nodiscard]] std::string place(const std::string& name) const override { return "/simulated/" + name; }

 private:
  bool step() {
    ++platters_->steps;
    if (platters_->fail_only) return platters_->steps != platters_->steps_until_cut + 1;
    return platters_->steps <= platters_->steps_until_cut;
  }
  void named() { platters_->since.push_back(platters_->files); }
  static Result<void> off() { return fail(ErrorKind::internal, "the power is off"); }
  std::shared_ptr<Platters> platters_;
};

}  // namespace guideway
