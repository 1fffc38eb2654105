// Bars, from zero. Those of one place stand side by side.
#include <fmt/format.h>

#include "results/figures/figure_series.h"
#include "results/figures/plotly_parts.h"

namespace xlm {
namespace {

constexpr std::string_view kSpreadColour = "#333333";
constexpr double kBarsWidth = 0.8;  // of all bars of a place, of the room between two places

std::string problem_of_bars(const FigureDescription& description) {
  if (std::string problem = problem_of_columns(description); !problem.empty()) return problem;
  const bool log = description.x_scale == FigureDescription::Scale::kLog;
  return log ? "has places side by side on x, which has no log scale" : "";
}

BuiltFigure build_bars(RunTable& runs, const FigureDescription& description, const std::vector<std::size_t>& selected) {
  BuiltFigure built = series_figure(runs, description, selected, {.side_by_side = true});
  if (auto* figure = std::get_if<Figure>(&built)) {
    figure->has_bars = true;
  }
  return built;
}

Json bars_plot(const Figure& figure) {
  Json traces = Json::array();
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    Json trace = plotly_points(figure, i, figure.x_label);
    trace["type"] = "bar";
    const SeriesLook look = series_look(figure.series[i].look);
    trace["marker"] = {{"color", look.colour}, {"opacity", 0.85}, {"pattern", {{"shape", look.pattern}}}};
    if (has_spread(figure.series[i])) trace["error_y"] = plotly_spreads(figure.series[i], kSpreadColour);
    traces.push_back(std::move(trace));
  }
  Json plot =
      plotly_whole(figure, std::move(traces), plotly_x_axis(figure), plotly_axis(figure.y_label, y_axis(figure)));
  plot["layout"]["bargap"] = 1 - kBarsWidth;
  plot["layout"]["bargroupgap"] = 0.06;
  plot["layout"]["xaxis"]["showgrid"] = false;
  return plot;
}

}  // namespace

FigureKind bars_kind() {
  return {.name = "bars", .problem = problem_of_bars, .build = build_bars, .plotly = bars_plot};
}

}  // namespace xlm
