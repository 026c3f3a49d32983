#include "command/comparison_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "state/quantity.h"

namespace guideway {
namespace {

constexpr double label_right = 120, line_height = 30, plot_top = 84;
constexpr double plot_width = 980, text_drop = 4;
// What lies beyond is told by an arrow and a figure: one bad line must not flatten all others.
constexpr double fullness_cap = 4, movement_cap = 5;  // the latter over what has to move
constexpr std::size_t ticks_max = 200;
constexpr std::string_view plot_ink = "#1f2933", plot_faint = "#cbd2d9", plot_blue = "#2b6cb0",
                           plot_orange = "#dd6b20";

// A panel's way from values to places.
struct Axis {
  double left, right, max;
  [[nodiscard]] double at(double value) const { return left + (right - left) * std::min(value, max) / max; }
  [[nodiscard]] std::string_view arrow(double value) const { return value > max ? "\xe2\x86\x92 " : ""; }
};

std::string stroke_line(double x1, double y1, double x2, double y2, std::string_view color, double thickness,
                        std::string_view more = {}) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
      x1, y1, x2, y2, color, thickness, more);
}

std::string box(double x, double y, double size, double height, std::string_view color) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
                     y, std::max(size, 0.0), height, color);
}

// Names have no character that XML knows; sentences of ours are chosen so.
std::string words(double x, double y, std::string_view anchor, std::string_view what,
                  std::string_view color = plot_ink) {
  // A white seam, so that a line behind does not strike the words out.
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"3\" "
      "paint-order=\"stroke\">{}</text>\n",
      x, y, anchor, color, what);
}

// 1, 2 or 5 times a power of ten, so that about five fit.
double tick_step(double max) {
  const double power = std::pow(10, std::floor(std::log10(max / 5)));
  const double rest = max / 5 / power;
  return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

std::string axis(const Axis& axis, double bottom, std::string_view title, std::string_view unit) {
  std::string out = words((axis.left + axis.right) / 2, plot_top - 30, "middle", title);
  const double step = tick_step(axis.max);
  for (int i = 0; i * step <= axis.max * 1.0001; ++i) {
    const double x = axis.at(i * step);
    out += stroke_line(x, plot_top - 6, x, bottom, plot_faint, 1);
    out += words(x, plot_top - 12, "middle", fmt::format("{:g}{}", std::round(i * step * 1e6) / 1e6, unit));
  }
  return out;
}

std::string fullness_line(const Axis& axis, double y, const ComparedAlgorithm& one) {
  std::string out = stroke_line(axis.at(one.keys.minimum), y, axis.at(one.keys.peak), y, plot_blue, 2);
  const std::size_t step = (one.fullness.size() + ticks_max - 1) / ticks_max;
  for (std::size_t i = 0; i < one.fullness.size(); i += step) {
    out += stroke_line(axis.at(one.fullness[i]), y - 7, axis.at(one.fullness[i]), y + 7, plot_blue, 1);
  }
  for (const double edge : {one.keys.minimum, one.keys.peak}) {
    out += stroke_line(axis.at(edge), y - 9, axis.at(edge), y + 9, plot_blue, 2);
  }
  return out + words(axis.at(one.keys.peak) + 6, y + text_drop, "start",
                     fmt::format("{}{:.2f}", axis.arrow(one.keys.peak), one.keys.peak));
}

std::string movement_line(const Axis& axis, double y, const ComparedAlgorithm& one) {
  if (!one.movement) return {};
  const double needed = axis.at(100 * (one.movement->moved - one.movement->needless)),
               all = axis.at(100 * one.movement->moved);
  return box(axis.left, y - 8, needed - axis.left, 16, plot_blue) +
         box(needed, y - 8, all - needed, 16, plot_orange);
}

std::string movement_words(const Axis& axis, double y, const ComparedAlgorithm& one) {
  if (!one.movement) return words(axis.left + 6, y + text_drop, "start", "refused", plot_orange);
  const double moved = 100 * one.movement->moved;
  return words(axis.at(moved) + 6, y + text_drop, "start",
               fmt::format("{}{:.2f} %", axis.arrow(moved), moved));
}

std::string legend(const Axis& moved, double y) {
  return stroke_line(moved.left, y - 8, moved.left, y + 8, plot_ink, 1.5, " stroke-dasharray=\"4 3\"") +
         words(moved.left + 8, y + text_drop, "start", "has to move") +
         box(moved.left + 92, y - 6, 12, 12, plot_blue) +
         words(moved.left + 109, y + text_drop, "start", "from or to the changed backend") +
         box(moved.left + 318, y - 6, 12, 12, plot_orange) +
         words(moved.left + 335, y + text_drop, "start", "needless");
}

Axis fullness_axis(const Comparison& comparison) {
  double max = 1.2;
  for (const ComparedAlgorithm& one : comparison.algorithms) max = std::max(max, one.keys.peak);
  return {label_right + 12, 480, std::min(fullness_cap, max * 1.02)};
}

Axis movement_axis(const Comparison& comparison) {
  double max = comparison.due;
  for (const ComparedAlgorithm& one : comparison.algorithms) {
    if (one.movement) max = std::max(max, one.movement->moved);
  }
  return {560, plot_width - 84, 100 * std::min(max * 1.02, movement_cap * comparison.due)};
}

}  // namespace

std::string comparison_svg(const Comparison& comparison) {
  const double bottom = plot_top + line_height * static_cast<double>(comparison.algorithms.size()),
               height = bottom + 50;
  const Axis full = fullness_axis(comparison), moved = movement_axis(comparison);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>Placement algorithms compared</title>\n",
      plot_width, height);
  out += box(0, 0, plot_width, height, "#ffffff");
  out += fmt::format(
      "<text x=\"16\" y=\"26\" font-size=\"16\" fill=\"{}\">{} backends, {} keys; change: {}</text>\n",
      plot_ink, comparison.before.size(), grouped(comparison.keys), compared_change_text(comparison.change));
  out += axis(full, bottom, "keys of a backend, over what its weight is due", "");
  out += axis(moved, bottom, "keys that the change moves", " %");
  out += stroke_line(full.at(1), plot_top - 6, full.at(1), bottom, plot_ink, 1.5);
  const auto each = [&](auto draw) {
    double y = plot_top + line_height / 2;
    for (const ComparedAlgorithm& one : comparison.algorithms) {
      out += draw(y, one);
      y += line_height;
    }
  };
  each([&](double y, const ComparedAlgorithm& one) {
    const std::string name = words(label_right, y + text_drop, "end", one.algorithm->name);
    if (one.refusal) return name + words(full.left + 6, y + text_drop, "start", "refused", plot_orange);
    return name + fullness_line(full, y, one) + movement_line(moved, y, one);
  });
  out += stroke_line(moved.at(100 * comparison.due), plot_top - 6, moved.at(100 * comparison.due), bottom,
                     plot_ink, 1.5, " stroke-dasharray=\"4 3\"");
  each([&](double y, const ComparedAlgorithm& one) {
    return one.refusal ? std::string() : movement_words(moved, y, one);
  });
  out += words(full.at(1), bottom + 22, "middle", "1: the exact share; a tick is a backend");
  return out + legend(moved, bottom + 18) + "</svg>\n";
}

}  // namespace guideway
