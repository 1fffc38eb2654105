// Bars, from zero by default. Those of one place stand side by side.
#include <fmt/format.h>

#include "results/figures/figure_series.h"
#include "results/figures/gnuplot_parts.h"
#include "results/figures/plot_room.h"
#include "results/figures/plotly_parts.h"

namespace xlm {
namespace {

constexpr std::string_view kSpreadColour = "#333333";

std::string problem_of_bars(const FigureDescription& description) {
  if (std::string problem = problem_of_columns(description); !problem.empty()) return problem;
  const bool log = description.x_scale == FigureDescription::Scale::kLog;
  return log ? "has places side by side on x, which has no log scale" : "";
}

BuiltFigure build_bars(RunTable& runs, const FigureDescription& description, const std::vector<std::size_t>& selected) {
  BuiltFigure built = series_figure(runs, description, selected, {.side_by_side = true});
  if (auto* figure = std::get_if<Figure>(&built)) {
    figure->has_bars = true;
    figure->from_zero = description.from_zero;
  }
  return built;
}

std::string bars_script(const Figure& figure, const FigureLayout& layout, PictureFormat format) {
  GnuplotScript script(figure, layout, format);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    std::vector<std::vector<double>> boxes;
    std::vector<std::vector<double>> spreads;
    for (const FigurePoint& point : figure.series[i].points) {
      const BarEnds bar = ends_of_bar(figure, i, point.x);
      const double x = (bar.left + bar.right) / 2;
      boxes.push_back({x, point.y, bar.right - bar.left});
      if (point.spread) spreads.push_back({x, point.y, *point.spread});
    }
    script.data(fmt::format("boxes{}", i), boxes);
    parts.push_back(fmt::format("$boxes{} using 1:2:3 with boxes fillstyle solid 0.85 noborder linecolor '{}' notitle",
                                i, series_look(figure.series[i].look).colour));
    if (spreads.empty()) continue;
    script.data(fmt::format("spreads{}", i), spreads);
    parts.push_back(fmt::format("$spreads{} {} linecolor '{}' notitle", i, kErrorBar, kSpreadColour));
  }
  script.set_y_axis();
  script.add("set grid noxtics ytics\n");
  script.name_x();
  script.plot(parts);
  return script.text();
}

Json bars_plot(const Figure& figure) {
  Json traces = Json::array();
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    Json trace = plotly_points(figure, i, figure.x_label);
    trace["type"] = "bar";
    trace["marker"] = {{"color", series_look(figure.series[i].look).colour}, {"opacity", 0.85}};
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
  return {.name = "bars",
          .shows_facets = true,
          .may_leave_zero = true,
          .problem = problem_of_bars,
          .build = build_bars,
          .gnuplot = bars_script,
          .plotly = bars_plot};
}

}  // namespace xlm
