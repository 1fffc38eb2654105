// Order and looks of series.
#include "results/figures/series_looks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

bool is_called(const FigureSeries& series, const std::string& name) {
  return name == series.label || name == series.value || name == series.plain;
}

/// The place of a series in the order; the end if the order does not name it.
std::size_t place_in_order(const FigureSeries& series, const std::vector<std::string>& order) {
  const auto found = std::ranges::find_if(order, [&](const std::string& name) { return is_called(series, name); });
  return static_cast<std::size_t>(found - order.begin());
}

/// Whether a text of the description is shown: as a label or a part of one, or as the name of a place.
bool is_shown(const Figure& figure, const std::string& text) {
  const auto has = [&](const std::string& label) { return label.find(text) != std::string::npos; };
  return std::ranges::any_of(figure.series, [&](const FigureSeries& series) { return has(series.label); }) ||
         std::ranges::any_of(figure.fronts, [&](const FigureFront& front) { return has(front.label); }) ||
         std::ranges::any_of(figure.x_names, has) || std::ranges::any_of(figure.y_names, has);
}

std::string labels_of(const Figure& figure) {
  std::vector<std::string> labels;
  for (const FigureSeries& series : figure.series) labels.push_back("'" + series.label + "'");
  return labels.empty() ? "no series" : join(labels, ", ");
}

}  // namespace

void put_in_order(Figure& figure) {
  const FigureDescription& description = figure.description;
  const auto warn = [&](const std::string& key, const std::string& name, const std::string& what) {
    figure.warnings.push_back(
        fmt::format("the figure '{}' has '{}' in `{}`, but {}", description.title, name, key, what));
  };
  for (const auto& [value, text] : description.labels) {
    if (!is_shown(figure, text)) warn("labels", value, "shows no such value: it has " + labels_of(figure));
  }
  for (const std::string& name : description.order) {
    const bool known =
        std::ranges::any_of(figure.series, [&](const FigureSeries& series) { return is_called(series, name); });
    if (!known) warn("order", name, "no such series: it has " + labels_of(figure));
  }
  std::ranges::stable_sort(figure.series, [&](const FigureSeries& a, const FigureSeries& b) {
    return place_in_order(a, description.order) < place_in_order(b, description.order);
  });
  for (std::size_t i = 0; i < figure.series.size(); ++i) figure.series[i].look = i;
}

BuiltFigure SharedLooks::applied(BuiltFigure built) {
  Figure* figure = std::get_if<Figure>(&built);
  if (figure == nullptr || figure->description.series.empty()) return built;
  auto& looks = looks_[figure->description.series];
  for (FigureSeries& series : figure->series) {
    series.look = looks.try_emplace(series.value, looks.size()).first->second;
  }
  return built;
}

}  // namespace xlm
