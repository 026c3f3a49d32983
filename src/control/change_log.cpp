#include "control/change_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "command/table.h"
#include "toml/near_match.h"

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds window_length{1};

// As it was asked for.
std::string command_text(const Arguments& arguments) {
  std::string out = arguments.command->name();
  for (const Parameter& parameter : arguments.command->positionals)
    if (arguments.has(parameter.name)) out += " " + arguments.at(parameter.name);
  for (const Parameter& option : arguments.command->options)
    if (const auto value = arguments.find(option.name))
      out += fmt::format(" --{}{}{}", option.name, value->empty() ? "" : " ", *value);
  return out;
}

// With the pools that it has moved rows of.
std::string change_text(const Arguments& arguments, const json& answer) {
  std::string out = command_text(arguments);
  const auto pools = answer.find("pools");
  if (arguments.has("POOL") || pools == answer.end() || pools->empty()) return out;
  std::vector<std::string> names;
  for (const json& pool : *pools) names.push_back(pool.at("pool").get<std::string>());
  return fmt::format("{} (pools {})", out, some_of(names));
}

std::string who(const Arguments& arguments) {
  return arguments.asked_by.empty() ? "this process" : arguments.asked_by;
}

bool has_changed(const json& answer) { return answer.value("result", "done") == "done"; }

}  // namespace

std::string log_text(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::string shown = byte >= 0x20 && byte < 0x7f && c != '\\' ? std::string(1, c)
                              : c == '\\'                              ? "\\\\"
                                                                       : fmt::format("\\x{:02x}", byte);
    if (out.size() + shown.size() > bytes_max) return out + "...";
    out += shown;
  }
  return out;
}

ChangeLog::~ChangeLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void ChangeLog::start() {
  if (!writer_.joinable()) writer_ = std::thread([this] { write(); });
}

void ChangeLog::in_force(const Arguments& arguments, const json& answer) noexcept {
  try {
    if (!has_changed(answer)) return;
    const auto epoch = answer.at("epoch").get<std::uint64_t>();
    const bool forced = arguments.force && answer.value("needs_force", false);
    add({spdlog::level::info,
         fmt::format("change: {}: epoch {}, by {}{}", log_text(change_text(arguments, answer)), epoch,
                     who(arguments), forced ? ", forced" : "")},
        epoch);
  } catch (...) {  // the change is in force, whatever the log has of it
  }
}

void ChangeLog::in_force(const Arguments& arguments, Epoch epoch) noexcept {
  try {
    add({spdlog::level::info,
         fmt::format("change: {}: epoch {}, by {}, which could not be told what it moves",
                     log_text(command_text(arguments)), to_index(epoch), who(arguments))},
        to_index(epoch));
  } catch (...) {
  }
}

void ChangeLog::journal_failed(const Error& error) noexcept {
  try {
    std::string text = log_text(error.text(), 600);
    std::string more;
    {
      const std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      if (text == failure_ && now - failure_told_ < repeat_after) {
        ++failures_skipped_;
        return;
      }
      if (failures_skipped_ > 0) more = fmt::format(" ({} more since the last line)", failures_skipped_);
      failures_skipped_ = 0;
      failure_ = text;
      failure_told_ = now;
      lines_.push_back(
          {spdlog::level::warn,
           fmt::format("a change was refused, the journal could not be written: {}{}", text, more)});
      if (lines_.size() > 2 * lines_per_second_max) lines_.pop_front();
    }
    wake_.notify_one();
  } catch (...) {  // whoever asked for the change is told
  }
}

void ChangeLog::add(Line line, std::uint64_t epoch) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (skipped_ == 0 && now - window_ >= window_length) {
      window_ = now;
      told_ = 0;
    }
    if (told_ < lines_per_second_max && lines_.size() < lines_per_second_max) {
      lines_.push_back(std::move(line));
      ++told_;
    } else {
      ++skipped_;
      skipped_epoch_ = epoch;
    }
  }
  wake_.notify_one();
}

void ChangeLog::write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto due = [this] { return stopping_ || Clock::now() - window_ >= window_length; };
    if (skipped_ > 0) {
      wake_.wait_until(lock, window_ + window_length, [&] { return due() || !lines_.empty(); });
    } else {
      wake_.wait(lock, [this] { return stopping_ || !lines_.empty() || skipped_ > 0; });
    }
    std::deque<Line> lines;
    lines.swap(lines_);
    std::uint64_t skipped = 0;
    const std::uint64_t epoch = skipped_epoch_;
    if (skipped_ > 0 && due()) std::swap(skipped, skipped_);
    const bool last = stopping_ && lines.empty() && skipped == 0;
    if (last) return;
    lock.unlock();
    try {
      for (const Line& line : lines) spdlog::log(line.level, "{}", line.text);
      if (skipped > 0) spdlog::info("change: and {} more changes, up to epoch {}", skipped, epoch);
    } catch (...) {  // no memory for a line
    }
    lock.lock();
  }
}

}  // namespace guideway
