// Thread faults: an exception in a thread that is to run for as long as the daemon does.
// What: one turn of the thread's loop at a time; what it throws is logged, and the thread goes on.
// Why:  an exception that leaves a thread ends the process at once; a moment without memory must not.
// Cost: the same words are logged once, whoever goes on failing; after each fault a moment's rest.
// Thread: the one that it is about.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

namespace guideway {

class ThreadFaults {
 public:
  static constexpr std::chrono::milliseconds rest{100};

  // `name` for the log; a literal.
  explicit ThreadFaults(std::string_view name) : name_(name) {}

  // Whether the turn came to its end.
  template <class Turn>
  bool caught(Turn&& turn) noexcept {
    try {
      turn();
      return true;
    } catch (const std::exception& exception) {
      log(exception.what());
    } catch (...) {
      log("an exception of an unknown kind");
    }
    return false;
  }

 private:
  void log(const char* what) noexcept;

  std::string_view name_;
  std::string last_;  // what was logged last
};

}  // namespace guideway
