#include "tables/lessons/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace guideway {

Figure number_figure(std::string name, double measured, std::optional<Published> published, int decimals,
                     const char* unit) {
  Figure figure{.name = std::move(name),
                .measured = fmt::format("{:.{}f}{}", measured, decimals, unit),
                .value = measured};
  if (published) {
    figure.published = published->words != nullptr
                           ? published->words
                           : fmt::format("{:.{}f}{}", published->value, decimals, unit);
    figure.agrees = std::abs(measured - published->value) <= published->tolerance;
  }
  return figure;
}

Figure word_figure(std::string name, std::string measured, std::string published) {
  const bool agrees = measured == published;
  return {.name = std::move(name),
          .measured = std::move(measured),
          .published = std::move(published),
          .agrees = agrees};
}

}  // namespace guideway
