// Reads the description of a figure.
#include "results/figures/figure_description.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/figures/figure_kind.h"

namespace xlm {
namespace {

std::vector<std::string> names_of_kinds(bool FigureKind::*property) {
  std::vector<std::string> names;
  for (const FigureKind& kind : figure_kinds()) {
    if (property == nullptr || kind.*property) names.push_back(kind.name);
  }
  return names;
}

/// What is wrong with a figure of a grid of any kind; empty: nothing.
std::string problem_of_grid(const FigureDescription& description, const FigureKind& kind) {
  if (!kind.shows_grids) {
    std::vector<std::string> names = names_of_kinds(&FigureKind::shows_grids);
    std::sort(names.begin(), names.end());
    return "shows a grid, so its kind must be one of " + join(names, ", ");
  }
  if (!description.x.empty() || !description.y.empty() || !description.series.empty())
    return "shows a grid, so it has no x, y or series";
  return description.front ? "shows a grid, which has no Pareto front" : "";
}

/// {none: fixed}: points with the first value belong to the series of the second.
std::map<std::string, std::string> read_same_series(const Yaml& node, const std::vector<std::string>& series) {
  std::map<std::string, std::string> same;
  if (node.is_null()) return same;
  if (!node.is_map()) fail_at(node, "same_series must be a map of values of series, such as {none: fixed}");
  if (series.empty()) fail_at(node, "same_series is for a figure with 'series'");
  for (const auto& [value, other] : node.entries) same[value] = scalar_text(other, "a value of same_series");
  return same;
}

/// [low, high]. A null leaves an end to the data.
FigureDescription::Limits read_limits(const Yaml& node, const std::string& key) {
  FigureDescription::Limits limits;
  if (node.is_null()) return limits;
  const auto end = [&](const Yaml& item) {
    std::optional<double> value;
    double number = 0;
    if (item.is_null()) return value;
    if (!item.is_scalar() || !parse_real(item.scalar, number) || !std::isfinite(number)) {
      throw UsageError(
          fmt::format("{}: {} takes two numbers, [low, high]; null leaves an end open", item.where(), key));
    }
    value = number;
    return value;
  };
  if (!node.is_sequence() || node.items.size() != 2) {
    throw UsageError(fmt::format("{}: {} takes two numbers, [low, high]; null leaves an end open", node.where(), key));
  }
  limits = {end(node.items[0]), end(node.items[1])};
  if (limits.low && limits.high && *limits.low >= *limits.high) {
    throw UsageError(fmt::format("{}: {} ends before it begins", node.where(), key));
  }
  return limits;
}

std::string problem_of_facets(const FigureDescription& description, const FigureKind& kind) {
  using Place = LegendKeys::Place;
  if (description.looks.facet.by.empty()) return "";
  if (!kind.shows_facets || !description.grid.empty())
    return "has a 'facet', which only a " + join(names_of_kinds(&FigureKind::shows_facets), ", ") +
           " of columns of the store shows";
  const Place place = description.looks.legend.place;
  const bool around =
      place == Place::kAuto || place == Place::kBelow || place == Place::kRight || place == Place::kNone;
  return around ? "" : "has a 'facet', so its legend stands below or right of all panels";
}

/// Options that only some kinds have.
std::string problem_of_looks(const FigureDescription& description, const FigureKind& kind) {
  const auto kinds = [](bool FigureKind::*property) { return join(names_of_kinds(property), " or "); };
  if (description.font.find_first_of(",'\"\n") != std::string::npos) return "has a 'font' that is no font family";
  if (!description.from_zero && !kind.may_leave_zero)
    return "has 'from_zero', which only " + kinds(&FigureKind::may_leave_zero) + " show";
  if (std::string problem = problem_of_facets(description, kind); !problem.empty()) return problem;
  const bool x_limits = description.x_range.low || description.x_range.high;
  if (x_limits && !kind.shows_x_range)
    return "has 'x_range', which only a " + kinds(&FigureKind::shows_x_range) + " shows";
  const bool y_limits = description.y_range.low || description.y_range.high;
  return y_limits && !kind.shows_y_range ? "has 'y_range', which a " + kind.name + " does not show" : "";
}

std::string problem_of(const FigureDescription& description) {
  const FigureKind& kind = kind_of(description);
  if (std::string problem = problem_of_looks(description, kind); !problem.empty()) return problem;
  const bool of_grid = !description.grid.empty();
  if (!description.rows.empty() && !(of_grid && kind.shows_rows))
    return "has 'rows', which only a " + join(names_of_kinds(&FigureKind::shows_rows), " or ") + " of a grid shows";
  if (!description.marks.empty() && (of_grid || !kind.shows_marks))
    return "has 'marks', which only a " + join(names_of_kinds(&FigureKind::shows_marks), " or ") + " shows";
  if (of_grid) return problem_of_grid(description, kind);
  if (std::string problem = kind.problem(description); !problem.empty()) return problem;
  if (!description.value.empty() && !kind.shows_values)
    return "has a 'value', which only a " + join(names_of_kinds(&FigureKind::shows_values), " or ") + " shows";
  if (description.front && !kind.shows_fronts)
    return "can show a Pareto front only as " + join(names_of_kinds(&FigureKind::shows_fronts), " or ");
  return "";
}

}  // namespace

const std::vector<std::string>& figure_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"figure", "where", "kind", "series", "same_series", "choose", "x_range", "y_range"};
    names.insert(names.end(), kLookKeys.begin(), kLookKeys.end());
    OptionLister lister;
    FigureDescription().visit(lister);
    for (const OptionEntry& entry : lister.entries()) names.push_back(entry.key);
    return names;
  }();
  return keys;
}

FigureDescription read_figure_description(const Yaml& node) {
  refuse_unknown(node, figure_keys());
  FigureDescription description;
  description.place = node.where();
  const Yaml* title = node.find("figure");
  if (title == nullptr) throw UsageError(fmt::format("{}: the figure has no title (figure: TITLE)", node.where()));
  description.title = scalar_text(*title, "figure");
  if (const Yaml* where = node.find("where")) description.where = read_filters(*where);
  Yaml options = node;
  options.take("figure");
  options.take("where");
  description.series = read_columns(options.take("series"), "series");
  description.same_series = read_same_series(options.take("same_series"), description.series);
  if (const Yaml choose = options.take("choose"); !choose.is_null()) description.choose = read_selection(choose);
  description.x_range = read_limits(options.take("x_range"), "x_range");
  description.y_range = read_limits(options.take("y_range"), "y_range");
  description.looks = read_looks(options);
  OptionReader reader(options);
  const std::vector<std::string> kinds = names_of_kinds(nullptr);
  auto kind = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), description.kind) - kinds.begin());
  reader.choice({.name = "kind", .help = "how the numbers are drawn"}, kind, kinds);
  description.kind = kinds[kind];
  description.visit(reader);
  reader.finish();
  description.says_maximize = node.find("maximize") != nullptr;
  if (description.name.empty()) description.name = name_from_title(description.title);
  if (description.name.empty()) description.name = "figure";
  if (description.name.find('/') != std::string::npos) {
    throw UsageError(fmt::format("{}: name is '{}', it must be a file name without folders", node.find("name")->where(),
                                 description.name));
  }
  if (const std::string problem = problem_of(description); !problem.empty()) {
    throw UsageError(fmt::format("{}: the figure '{}' {}", description.place, description.title, problem));
  }
  return description;
}

}  // namespace xlm
