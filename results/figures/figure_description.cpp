// Reads the description of a figure.
#include "results/figures/figure_description.h"

#include <algorithm>

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
    std::ranges::sort(names);
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

std::string text_in_list(const Yaml& node, const std::string& what) {
  if (!node.is_scalar()) fail_at(node, fmt::format("{} is a text", what));
  return node.scalar;
}

std::vector<std::pair<std::string, std::string>> read_labels(const Yaml& node) {
  std::vector<std::pair<std::string, std::string>> labels;
  if (node.is_null()) return labels;
  if (!node.is_map()) {
    fail_at(node, "labels is a map from values to the texts shown for them");
  }
  for (const auto& [value, text] : node.entries) labels.emplace_back(value, text_in_list(text, "a label"));
  return labels;
}

std::vector<std::string> read_order(const Yaml& node) {
  std::vector<std::string> order;
  if (node.is_null()) return order;
  if (!node.is_sequence()) fail_at(node, "order is a list of values or labels");
  for (const Yaml& item : node.items) order.push_back(text_in_list(item, "an item of order"));
  return order;
}

std::string problem_of(const FigureDescription& description) {
  const FigureKind& kind = kind_of(description);
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

std::string renamed(const FigureDescription& description, const std::string& label) {
  const auto found = std::ranges::find_if(description.labels, [&](const auto& entry) { return entry.first == label; });
  return found == description.labels.end() ? label : found->second;
}

const std::vector<std::string>& figure_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"figure", "where", "kind", "series", "same_series", "choose", "labels", "order"};
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
  if (title == nullptr) fail_at(node, "the figure has no title (figure: TITLE)");
  description.title = scalar_text(*title, "figure");
  if (const Yaml* where = node.find("where")) description.where = read_filters(*where);
  Yaml options = node;
  options.take("figure");
  options.take("where");
  description.series = read_columns(options.take("series"), "series");
  description.same_series = read_same_series(options.take("same_series"), description.series);
  if (const Yaml choose = options.take("choose"); !choose.is_null()) description.choose = read_selection(choose);
  description.labels = read_labels(options.take("labels"));
  description.order = read_order(options.take("order"));
  OptionReader reader(options);
  const std::vector<std::string> kinds = names_of_kinds(nullptr);
  auto kind = static_cast<std::size_t>(std::ranges::find(kinds, description.kind) - kinds.begin());
  reader.choice({.name = "kind", .help = "how the numbers are drawn"}, kind, kinds);
  description.kind = kinds[kind];
  description.visit(reader);
  reader.finish();
  description.says_maximize = node.find("maximize") != nullptr;
  if (description.name.empty()) description.name = name_from_title(description.title);
  if (description.name.empty()) description.name = "figure";
  if (description.name.find('/') != std::string::npos) {
    fail_at(*node.find("name"), fmt::format("name is '{}', it must be a file name without folders", description.name));
  }
  if (const std::string problem = problem_of(description); !problem.empty()) {
    throw UsageError(fmt::format("{}: the figure '{}' {}", description.place, description.title, problem));
  }
  return description;
}

}  // namespace xlm
