// Figures: how a lesson writes down what it found.
#pragma once

#include <optional>
#include <string>

#include "guideway/lesson.h"

namespace guideway {

struct Published {
  double value;
  double tolerance;
  const char* words = nullptr;  // as published, where that is no bare number: "about 9 %"
};

// Printed with `decimals`, followed by `unit` (" %", " points", or nothing).
[[nodiscard]] Figure number_figure(std::string name, double measured, std::optional<Published> published,
                                   int decimals, const char* unit = "");

[[nodiscard]] Figure word_figure(std::string name, std::string measured, std::string published);

}  // namespace guideway
