// Parts of figures for plotly.js, for the kinds of figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "results/figures/figure.h"
#include "results/figures/plot_style.h"

namespace xlm {

/// The text, so that plotly.js finds no tags in it.
std::string plotly_text(std::string_view text);

/// 0, 1, …: the places of names.
std::vector<double> plotly_places(std::size_t count);

/// Lines with the runs of a point, for its hover text.
std::string plotly_runs(const std::vector<std::string>& runs);

/// The points of a series without a style: places, hover texts, runs, and the series' name. `x_word` names x in hover
/// texts.
Json plotly_points(const Figure& figure, std::size_t series, const std::string& x_word);

Json plotly_spreads(const FigureSeries& series, std::string_view colour);

/// The Pareto front and all series as points or lines, with their spread.
Json plotly_series(const Figure& figure, const std::string& x_word);

/// An axis without values.
Json plotly_bare_axis(const std::string& title);

/// An axis of numbers, or of names at places with a margin on both sides.
Json plotly_axis(const std::string& title, const Axis& axis);
Json plotly_axis(const std::string& title, const std::vector<std::string>& names, double margin);

/// The x axis of a figure of series: numbers or names.
Json plotly_x_axis(const Figure& figure);

/// {"name", "data", "layout"}.
Json plotly_whole(const Figure& figure, Json traces, Json x_axis, Json y_axis);

/// The whole plot of points or lines.
Json series_plot(const Figure& figure);

}  // namespace xlm
