// Pieces of figures for plotly.js, from which kinds of figures put theirs together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "results/figures/figure.h"
#include "results/figures/plot_style.h"

namespace xlm {

/// Text in which plotly.js finds no tags.
std::string plotly_text(std::string_view text);
std::vector<std::string> plotly_texts(const std::vector<std::string>& texts);

/// 0, 1, …: the places of names.
std::vector<double> plotly_places(std::size_t count);

/// Lines with the runs behind a point, for what is shown when it is hovered over.
std::string plotly_runs(const std::vector<std::string>& runs);

/// The points of a series without a look: places, what they say, their runs, and the series' name. `x_word`: what x is
/// called where a point is hovered over.
Json plotly_points(const Figure& figure, std::size_t series, const std::string& x_word);

/// Error bars of a series in a colour.
Json plotly_spreads(const FigureSeries& series, std::string_view colour);

/// The Pareto front and all series as points or lines, with their spread.
Json plotly_series(const Figure& figure, const std::string& x_word);

/// An axis of numbers, and one of names at places with a margin on both sides.
Json plotly_axis(const std::string& title, const Axis& axis);
Json plotly_axis(const std::string& title, const std::vector<std::string>& names, double margin);

/// x as a figure of series has it: numbers, or names.
Json plotly_x_axis(const Figure& figure);

/// {"name", "data", "layout"}.
Json plotly_whole(const Figure& figure, Json traces, Json x_axis, Json y_axis);

/// The whole of points or lines.
Json series_plot(const Figure& figure);

}  // namespace xlm
