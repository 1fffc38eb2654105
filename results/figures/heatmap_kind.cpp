// Colours over two axes, of a column of the store or of a grid.
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/figure_series.h"
#include "results/figures/newest_grid.h"
#include "results/figures/plotly_parts.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

std::string problem_of_heatmap(const FigureDescription& description) {
  if (std::string problem = problem_of_columns(description); !problem.empty()) return problem;
  if (description.value.empty()) return "is a heatmap, so it needs 'value', the column that colours show";
  if (!description.series.empty()) return "is a heatmap, which has no series";
  const bool log = description.x_scale == FigureDescription::Scale::kLog;
  return log ? "has places side by side on x, which has no log scale" : "";
}

Figure heatmap_of_grid(const FigureDescription& description, NewestGrid grid) {
  Figure figure = figure_of_grid(description, grid, grid.words.column, grid.words.row);
  for (const std::int64_t column : grid.columns) figure.x_names.push_back(fmt::to_string(column));
  figure.y_names = counted_names(grid.rows.size());
  for (const auto& row : grid.rows) figure.grid_runs.emplace_back(row.size(), std::vector<std::string>{grid.run});
  figure.grid = std::move(grid.rows);
  return figure;
}

struct HeatmapCell {
  std::vector<double> numbers;
  std::vector<std::string> runs;
  std::vector<std::size_t> places;  // rows of the RunTable
};

/// The cells by y and x, and all values of x.
struct HeatmapCells {
  std::map<Value, std::map<Value, HeatmapCell, ValueOrder>, ValueOrder> rows;
  std::set<Value, ValueOrder> columns;
};

HeatmapCells heatmap_cells(RunTable& runs, const FigureDescription& description,
                           const std::vector<std::size_t>& selected) {
  const std::vector<Value>& xs = runs.column(description.x);
  const std::vector<Value>& ys = runs.column(description.y);
  const std::vector<Value>& values = runs.column(description.value);
  HeatmapCells cells;
  for (const std::size_t run : selected) {
    const std::optional<double> number = as_number(values[run]);
    if (is_missing(xs[run]) || is_missing(ys[run]) || !number || !std::isfinite(*number)) continue;
    HeatmapCell& cell = cells.rows[ys[run]][xs[run]];
    cell.numbers.push_back(*number);
    cell.runs.push_back(runs.id(run));
    cell.places.push_back(run);
    cells.columns.insert(xs[run]);
  }
  return cells;
}

BuiltFigure build_heatmap(RunTable& runs, const FigureDescription& description,
                          const std::vector<std::size_t>& selected) {
  if (!description.grid.empty()) {
    auto found = newest_grid(runs, description, selected);
    if (auto* nothing = std::get_if<NothingToShow>(&found)) return *nothing;
    return heatmap_of_grid(description, std::get<NewestGrid>(std::move(found)));
  }
  HeatmapCells cells = heatmap_cells(runs, description, selected);
  if (cells.rows.empty()) {
    const std::string text = why_no_numbers(runs, description.value, selected);
    return no_figure(description, !text.empty() ? text
                                                : fmt::format("none of {} runs has {}, {} and {}", selected.size(),
                                                              description.x, description.y, description.value));
  }
  Figure figure = labelled_figure(description);
  Variation variation(runs, description.over);
  for (const Value& x : cells.columns) figure.x_names.push_back(renamed(description, to_text(x)));
  for (auto& [y, row] : cells.rows) {
    figure.y_names.push_back(renamed(description, to_text(y)));
    std::vector<double>& numbers = figure.grid.emplace_back();
    auto& runs_of_row = figure.grid_runs.emplace_back();
    for (const Value& x : cells.columns) {
      const HeatmapCell cell = row.contains(x) ? row[x] : HeatmapCell{};
      numbers.push_back(cell.numbers.empty() ? std::numeric_limits<double>::quiet_NaN()
                                             : aggregated(cell.numbers, description.aggregate));
      runs_of_row.push_back(cell.runs);
      if (!cell.places.empty()) variation.add(cell.places);
    }
  }
  describe_variation(figure, variation);
  return figure;
}

/// Many names are only an order: some of them remain.
std::vector<std::string> some_of_many_names(std::vector<std::string> names) {
  constexpr std::size_t kMaxNames = 40;
  constexpr std::size_t kNamesOfMany = 16;
  if (names.size() <= kMaxNames) return names;
  const std::size_t step = (names.size() + kNamesOfMany - 1) / kNamesOfMany;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((i + 1) % step != 0) names[i].clear();
  }
  return names;
}

/// The cells' labels and hover texts.
Json plotly_cells(const Figure& figure, const Axis& colour) {
  const bool has_texts = has_cell_texts(figure);
  Json numbers = Json::array();
  Json shown = Json::array();
  Json texts = Json::array();
  Json runs = Json::array();
  for (std::size_t y = 0; y < figure.grid.size(); ++y) {
    for (Json* rows : {&numbers, &shown, &texts, &runs}) rows->push_back(Json::array());
    for (std::size_t x = 0; x < figure.grid[y].size(); ++x) {
      const double value = figure.grid[y][x];
      const bool there = std::isfinite(value);
      const std::vector<std::string>& behind = figure.grid_runs[y][x];
      numbers.back().push_back(!there ? Json() : Json(colour.log ? std::log10(value) : value));
      shown.back().push_back(there && has_texts ? cell_text(figure, value) : "");
      texts.back().push_back(fmt::format("{}: {}<br>{}: {}<br>{}: {}{}", plotly_text(figure.x_label),
                                         plotly_text(figure.x_names[x]), plotly_text(figure.y_label),
                                         plotly_text(figure.y_names[y]), plotly_text(figure.value_label),
                                         there ? value_text(value) : "–", plotly_runs(behind)));
      runs.back().push_back(behind);
    }
  }
  Json trace = {{"z", std::move(numbers)}, {"hovertext", std::move(texts)}, {"customdata", std::move(runs)}};
  trace["hoverinfo"] = "text";
  trace["hoverongaps"] = false;
  if (has_texts) {
    trace["text"] = std::move(shown);
    trace["texttemplate"] = "%{text}";
  }
  return trace;
}

/// Logarithmic colours are the colours of logarithms: plotly.js has no others.
Json heatmap_trace(const Figure& figure) {
  const Axis colour = colour_axis(figure);
  const auto scaled = [&](double value) { return colour.log ? std::log10(value) : value; };
  Json tick_places = Json::array();
  for (const double tick : colour.ticks) tick_places.push_back(scaled(tick));
  Json scale = Json::array();
  for (std::size_t i = 0; i < kPalette.size(); ++i) {
    scale.push_back({static_cast<double>(i) / static_cast<double>(kPalette.size() - 1), kPalette[i]});
  }
  Json trace = plotly_cells(figure, colour);
  trace["type"] = "heatmap";
  trace["x"] = plotly_places(figure.x_names.size());
  trace["y"] = plotly_places(figure.y_names.size());
  trace["colorscale"] = std::move(scale);
  trace["zmin"] = scaled(colour.range.low);
  trace["zmax"] = scaled(colour.range.high);
  trace["xgap"] = 1;
  trace["ygap"] = 1;
  trace["colorbar"] = {{"title", {{"text", plotly_text(figure.value_label)}, {"side", "right"}}},
                       {"tickmode", "array"},
                       {"tickvals", std::move(tick_places)},
                       {"ticktext", tick_texts(colour)},
                       {"outlinewidth", 0},
                       {"thickness", 16}};
  return trace;
}

Json heatmap_plot(const Figure& figure) {
  Json plot = plotly_whole(figure, Json::array({heatmap_trace(figure)}),
                           plotly_axis(figure.x_label, some_of_many_names(figure.x_names), 0.5),
                           plotly_axis(figure.y_label, some_of_many_names(figure.y_names), 0.5));
  for (const char* axis : {"xaxis", "yaxis"}) {
    plot["layout"][axis]["showgrid"] = false;
    plot["layout"][axis]["showline"] = false;
    plot["layout"][axis]["ticks"] = "";
  }
  return plot;
}

}  // namespace

FigureKind heatmap_kind() {
  return {.name = "heatmap",
          .shows_grids = true,
          .shows_values = true,
          .problem = problem_of_heatmap,
          .build = build_heatmap,
          .plotly = heatmap_plot};
}

}  // namespace xlm
