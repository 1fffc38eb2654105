// Parts of figures for plotly.js.
#include "results/figures/plotly_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

namespace xlm {
namespace {

constexpr int kMarkerSize = 10;  // pixels

constexpr std::size_t kMaxHoveredRuns = 8;
constexpr std::string_view kFont = "system-ui, 'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif";

/// "#0072b2" with 20 % opacity.
std::string faint(std::string_view colour) { return std::string(colour) + "33"; }

std::string x_text(const Figure& figure, double x) {
  if (figure.x_names.empty()) return value_text(x);
  const auto place = static_cast<std::size_t>(std::lround(x));
  return place < figure.x_names.size() ? figure.x_names[place] : value_text(x);
}

std::string hover_text(const Figure& figure, const FigureSeries& series, const FigurePoint& point,
                       const std::string& x_word) {
  std::string text = series.label.empty() ? "" : "<b>" + plotly_text(series.label) + "</b><br>";
  text += plotly_text(x_word) + ": " + plotly_text(x_text(figure, point.x)) + "<br>";
  text += plotly_text(figure.y_label) + ": " + value_text(point.y);
  if (point.spread) text += " ± " + with_digits(*point.spread, 3);
  return text + plotly_runs(point.runs);
}

Json front_trace(const FigureFront& front, std::size_t index) {
  Json x = Json::array();
  Json y = Json::array();
  for (const auto& [corner_x, corner_y] : front.corners) {
    x.push_back(corner_x);
    y.push_back(corner_y);
  }
  return {{"type", "scatter"},
          {"mode", "lines"},
          {"name", plotly_text(front.label)},
          {"hoverinfo", "skip"},
          {"line", {{"color", kFrontColour}, {"width", 1.5}, {"dash", kPlotlyDashes[index % kPlotlyDashes.size()]}}},
          {"x", std::move(x)},
          {"y", std::move(y)}};
}

/// The series with the spreads that are bars, and no others.
FigureSeries bars_of(FigureSeries series, const SpreadParts& spreads) {
  const auto is_bar = [&](const FigurePoint& point) {
    return std::ranges::any_of(spreads.bars, [&](const FigurePoint& bar) {
      return bar.x == point.x && bar.y == point.y && bar.spread == point.spread;
    });
  };
  for (FigurePoint& point : series.points) {
    if (!is_bar(point)) point.spread.reset();
  }
  return series;
}

/// Bands of one standard deviation around a line: forward along one side, back along the other. A null ends one.
Json band_trace(const std::vector<std::vector<FigurePoint>>& bands, const SeriesLook& look, std::size_t index) {
  Json x = Json::array();
  Json y = Json::array();
  const auto add = [&](const Json& place_x, const Json& place_y) {
    x.push_back(place_x);
    y.push_back(place_y);
  };
  for (const std::vector<FigurePoint>& band : bands) {
    if (!x.empty()) add(Json(), Json());
    for (const FigurePoint& point : band) add(point.x, point.y + *point.spread);
    std::for_each(band.rbegin(), band.rend(), [&](const FigurePoint& point) { add(point.x, point.y - *point.spread); });
  }
  return {
      {"type", "scatter"},      {"mode", "lines"},     {"fill", "toself"},    {"fillcolor", faint(look.colour)},
      {"line", {{"width", 0}}}, {"hoverinfo", "skip"}, {"showlegend", false}, {"legendgroup", fmt::format("{}", index)},
      {"x", std::move(x)},      {"y", std::move(y)}};
}

void add_series_traces(const Figure& figure, std::size_t index, const std::string& x_word, const SetApart& set_apart,
                       Json& traces) {
  const FigureSeries& series = figure.series[index];
  const SeriesLook look = series_look(series.look);
  const SpreadParts spreads = spread_parts(figure, index);
  if (!spreads.bands.empty()) traces.push_back(band_trace(spreads.bands, look, index));
  Json trace = plotly_points(figure, index, x_word);
  for (Json& x : trace["x"]) x = set_apart(index, x.get<double>());
  trace["type"] = "scatter";
  trace["mode"] = !series.joined ? "markers" : is_long(series) ? "lines" : "lines+markers";
  trace["line"] = {{"color", look.colour}, {"width", 2}, {"dash", look.dashed ? "dash" : "solid"}};
  trace["marker"] = {
      {"color", look.colour}, {"symbol", series.is_predicted ? "star" : look.symbol}, {"size", kMarkerSize}};
  if (!spreads.bars.empty()) trace["error_y"] = plotly_spreads(bars_of(series, spreads), look.colour);
  traces.push_back(std::move(trace));
}

/// The place of the legend; to the right of the plot by default.
Json plotly_legend(const Figure& figure) {
  using Legend = FigureDescription::Legend;
  const Legend place = figure.description.legend;
  if (place == Legend::kBelow) return {{"orientation", "h"}, {"y", -0.2}, {"yanchor", "top"}};
  if (place == Legend::kInside) return {{"x", 0.99}, {"xanchor", "right"}, {"y", 0.99}, {"yanchor", "top"}};
  return Json::object();
}

}  // namespace

std::string plotly_text(std::string_view text) {
  std::string out(text);
  boost::replace_all(out, "&", "&amp;");  // first, for the others bring one along
  boost::replace_all(out, "<", "&lt;");
  boost::replace_all(out, ">", "&gt;");
  boost::replace_all(out, "\n", " ");
  return out;
}

std::vector<double> plotly_places(std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i));
  return numbers;
}

std::string plotly_runs(const std::vector<std::string>& runs) {
  std::string text;
  const std::size_t shown = std::min(runs.size(), kMaxHoveredRuns);
  for (std::size_t i = 0; i < shown; ++i) text += "<br>" + plotly_text(runs[i]);
  if (shown < runs.size()) text += fmt::format("<br>and {} more runs", runs.size() - shown);
  return text;
}

Json plotly_points(const Figure& figure, std::size_t series, const std::string& x_word) {
  const FigureSeries& line = figure.series[series];
  Json x = Json::array();
  Json y = Json::array();
  Json texts = Json::array();
  Json runs = Json::array();
  for (const FigurePoint& point : line.points) {
    x.push_back(point.x);
    y.push_back(point.y);
    texts.push_back(hover_text(figure, line, point, x_word));
    runs.push_back(point.runs);
  }
  return {{"x", std::move(x)},
          {"y", std::move(y)},
          {"hovertext", std::move(texts)},
          {"hoverinfo", "text"},
          {"customdata", std::move(runs)},
          {"name", plotly_text(line.label)},
          {"legendgroup", fmt::format("{}", series)}};  // a band is hidden with its line
}

Json plotly_spreads(const FigureSeries& series, std::string_view colour) {
  Json spreads = Json::array();
  for (const FigurePoint& point : series.points) spreads.push_back(point.spread ? Json(*point.spread) : Json());
  return {{"type", "data"}, {"array", std::move(spreads)}, {"color", colour}, {"thickness", 1.2}, {"width", 4}};
}

Json plotly_series(const Figure& figure, const std::string& x_word) {
  Json traces = Json::array();
  for (std::size_t i = 0; i < figure.fronts.size(); ++i) traces.push_back(front_trace(figure.fronts[i], i));
  const SetApart set_apart(figure);
  for (std::size_t i = 0; i < figure.series.size(); ++i) add_series_traces(figure, i, x_word, set_apart, traces);
  return traces;
}

Json plotly_bare_axis(const std::string& title) {
  return {{"title", {{"text", plotly_text(title)}, {"standoff", 10}}},
          {"showline", true},
          {"linecolor", kFrameColour},
          {"gridcolor", kGridColour},
          {"zeroline", false},
          {"ticks", "outside"},
          {"ticklen", 4},
          {"tickcolor", kFrameColour},
          {"tickmode", "array"},
          {"exponentformat", "SI"},
          {"automargin", true}};
}

Json plotly_axis(const std::string& title, const Axis& axis) {
  Json json = plotly_bare_axis(title);
  const auto scaled = [&](double value) { return axis.log ? std::log10(value) : value; };
  json["type"] = axis.log ? "log" : "linear";
  json["range"] = {scaled(axis.range.low), scaled(axis.range.high)};
  json["tickvals"] = axis.ticks;
  json["ticktext"] = tick_texts(axis);
  return json;
}

Json plotly_axis(const std::string& title, const std::vector<std::string>& names, double margin) {
  Json json = plotly_bare_axis(title);
  json["range"] = {-margin, static_cast<double>(names.size()) - 1 + margin};
  json["tickvals"] = plotly_places(names.size());
  json["ticktext"] = Json::array();
  for (const std::string& name : names) json["ticktext"].push_back(plotly_text(name));
  return json;
}

Json plotly_x_axis(const Figure& figure) {
  return figure.x_names.empty() ? plotly_axis(figure.x_label, x_axis(figure))
                                : plotly_axis(figure.x_label, figure.x_names, 0.6);
}

Json plotly_whole(const Figure& figure, Json traces, Json x_axis, Json y_axis) {
  Json layout = {{"font", {{"family", kFont}, {"size", 13}, {"color", "#333333"}}},
                 {"paper_bgcolor", "#ffffff"},
                 {"plot_bgcolor", "#ffffff"},
                 {"margin", {{"l", 64}, {"r", 16}, {"t", 34}, {"b", 48}}},
                 {"hovermode", "closest"},
                 {"hoverlabel",
                  {{"align", "left"},
                   {"bgcolor", "#ffffff"},
                   {"bordercolor", kFrontColour},
                   {"font", {{"family", kFont}, {"size", 12}, {"color", "#111111"}}}}},
                 {"dragmode", "zoom"},
                 {"showlegend", has_legend(figure)},
                 {"legend", plotly_legend(figure)},
                 {"xaxis", std::move(x_axis)},
                 {"yaxis", std::move(y_axis)}};
  return {{"name", figure.description.name}, {"data", std::move(traces)}, {"layout", std::move(layout)}};
}

Json series_plot(const Figure& figure) {
  return plotly_whole(figure, plotly_series(figure, figure.x_label), plotly_x_axis(figure),
                      plotly_axis(figure.y_label, y_axis(figure)));
}

}  // namespace xlm
