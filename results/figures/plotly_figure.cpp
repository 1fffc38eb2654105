// Figures for plotly.js.
#include "results/figures/plotly_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/plot_style.h"

namespace xlm {
namespace {

constexpr std::size_t kMostHoveredRuns = 8;
constexpr std::string_view kFont = "system-ui, 'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif";

/// Text in which plotly.js finds no tags.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::vector<std::string> plain(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(plain(text));
  return out;
}

/// "#0072b2" with 20 % opacity.
std::string faint(std::string_view colour) { return std::string(colour) + "33"; }

std::vector<double> places(std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i));
  return numbers;
}

class Plot {
 public:
  explicit Plot(const Figure& figure) : figure_(figure) {}

  Json json() {
    if (figure_.description.kind == FigureDescription::Kind::kHeatmap) {
      add_heatmap();
    } else {
      if (!figure_.front.empty()) add_front();
      for (std::size_t i = 0; i < figure_.series.size(); ++i) add_series(i);
    }
    return {{"name", figure_.description.name}, {"data", std::move(traces_)}, {"layout", layout()}};
  }

 private:
  bool is_bars() const { return figure_.description.kind == FigureDescription::Kind::kBars; }
  /// Of a text's characters, so that they do not touch on a page of 900 pixels.
  double text_size() const { return std::min(12.0, 1100 / static_cast<double>(figure_.x_names.size())); }

  bool is_text() const { return figure_.description.kind == FigureDescription::Kind::kText; }

  std::string x_text(double x) const {
    if (figure_.x_names.empty()) return value_text(x);
    const auto place = static_cast<std::size_t>(std::lround(x));
    return place < figure_.x_names.size() ? figure_.x_names[place] : value_text(x);
  }

  static std::string runs_lines(const std::vector<std::string>& runs) {
    std::string text;
    const std::size_t shown = std::min(runs.size(), kMostHoveredRuns);
    for (std::size_t i = 0; i < shown; ++i) text += "<br>" + plain(runs[i]);
    if (shown < runs.size()) text += fmt::format("<br>and {} more runs", runs.size() - shown);
    return text;
  }

  std::string hover(const FigureSeries& series, const FigurePoint& point) const {
    std::string text = series.label.empty() ? "" : "<b>" + plain(series.label) + "</b><br>";
    text += plain(is_text() ? "token" : figure_.x_label) + ": " + plain(x_text(point.x)) + "<br>";
    text += plain(figure_.y_label) + ": " + value_text(point.y);
    if (point.spread) text += " ± " + fmt::format("{:.3g}", *point.spread);
    return text + runs_lines(point.runs);
  }

  void add_front() {
    Json x = Json::array();
    Json y = Json::array();
    for (const auto& [corner_x, corner_y] : figure_.front) {
      x.push_back(corner_x);
      y.push_back(corner_y);
    }
    traces_.push_back({{"type", "scatter"},
                       {"mode", "lines"},
                       {"name", kFrontTitle},
                       {"hoverinfo", "skip"},
                       {"line", {{"color", kFrontColour}, {"width", 1.5}}},
                       {"x", std::move(x)},
                       {"y", std::move(y)}});
  }

  void add_series(std::size_t index) {
    const FigureSeries& series = figure_.series[index];
    const SeriesLook look = series_look(index);
    const bool line = is_line(figure_, index);
    const bool band = line && is_long(series);
    const bool has_spread = std::any_of(series.points.begin(), series.points.end(),
                                        [](const FigurePoint& point) { return point.spread.has_value(); });
    if (band && has_spread) add_band(series, look, index);
    Json trace = points_of(series);
    trace["name"] = plain(series.label);
    trace["legendgroup"] = fmt::format("{}", index);  // a band is hidden with its line
    if (is_bars()) {
      trace["type"] = "bar";
      trace["marker"] = {{"color", look.colour}, {"opacity", 0.85}};
    } else {
      trace["type"] = "scatter";
      trace["mode"] = band ? "lines" : line ? "lines+markers" : "markers";
      trace["line"] = {{"color", look.colour}, {"width", 2}, {"dash", look.dashed ? "dash" : "solid"}};
      trace["marker"] = {{"color", look.colour}, {"symbol", look.plotly_symbol}, {"size", 8}};
    }
    if (has_spread && !band) {
      Json spreads = Json::array();
      for (const FigurePoint& point : series.points) spreads.push_back(point.spread ? Json(*point.spread) : Json());
      trace["error_y"] = {{"type", "data"},
                          {"array", std::move(spreads)},
                          {"color", is_bars() ? std::string_view("#333333") : look.colour},
                          {"thickness", 1.2},
                          {"width", 4}};
    }
    traces_.push_back(std::move(trace));
  }

  /// Places of the points, and what they say and show.
  Json points_of(const FigureSeries& series) const {
    Json x = Json::array();
    Json y = Json::array();
    Json texts = Json::array();
    Json runs = Json::array();
    for (const FigurePoint& point : series.points) {
      x.push_back(point.x);
      y.push_back(point.y);
      texts.push_back(hover(series, point));
      runs.push_back(point.runs);
    }
    return {{"x", std::move(x)},
            {"y", std::move(y)},
            {"hovertext", std::move(texts)},
            {"hoverinfo", "text"},
            {"customdata", std::move(runs)}};
  }

  /// A band of one standard deviation around a long line: up along one side, back along the other.
  void add_band(const FigureSeries& series, const SeriesLook& look, std::size_t index) {
    Json x = Json::array();
    Json y = Json::array();
    for (const FigurePoint& point : series.points) {
      x.push_back(point.x);
      y.push_back(point.y + point.spread.value_or(0));
    }
    std::for_each(series.points.rbegin(), series.points.rend(), [&](const FigurePoint& point) {
      x.push_back(point.x);
      y.push_back(point.y - point.spread.value_or(0));
    });
    traces_.push_back({{"type", "scatter"},
                       {"mode", "lines"},
                       {"fill", "toself"},
                       {"fillcolor", faint(look.colour)},
                       {"line", {{"width", 0}}},
                       {"hoverinfo", "skip"},
                       {"showlegend", false},
                       {"legendgroup", fmt::format("{}", index)},
                       {"x", std::move(x)},
                       {"y", std::move(y)}});
  }

  /// Logarithmic colours are colours of logarithms: plotly.js has no others.
  void add_heatmap() {
    const Axis colour = colour_axis(figure_);
    const auto scaled = [&](double value) { return colour.log ? std::log10(value) : value; };
    Json tick_places = Json::array();
    for (const double tick : colour.ticks) tick_places.push_back(scaled(tick));
    Json scale = Json::array();
    for (std::size_t i = 0; i < kPalette.size(); ++i) {
      scale.push_back({static_cast<double>(i) / static_cast<double>(kPalette.size() - 1), kPalette[i]});
    }
    Json trace = cells_of(colour);
    trace["type"] = "heatmap";
    trace["x"] = places(figure_.x_names.size());
    trace["y"] = places(figure_.y_names.size());
    trace["colorscale"] = std::move(scale);
    trace["zmin"] = scaled(colour.range.low);
    trace["zmax"] = scaled(colour.range.high);
    trace["xgap"] = 1;
    trace["ygap"] = 1;
    trace["colorbar"] = {{"title", {{"text", plain(figure_.value_label)}, {"side", "right"}}},
                         {"tickmode", "array"},
                         {"tickvals", std::move(tick_places)},
                         {"ticktext", tick_texts(colour)},
                         {"outlinewidth", 0},
                         {"thickness", 16}};
    traces_.push_back(std::move(trace));
  }

  Json cells_of(const Axis& colour) const {
    const std::optional<int> digits = cell_digits(figure_);
    Json numbers = Json::array();
    Json shown = Json::array();
    Json texts = Json::array();
    Json runs = Json::array();
    for (std::size_t y = 0; y < figure_.grid.size(); ++y) {
      for (Json* rows : {&numbers, &shown, &texts, &runs}) rows->push_back(Json::array());
      for (std::size_t x = 0; x < figure_.grid[y].size(); ++x) {
        const double value = figure_.grid[y][x];
        const bool there = std::isfinite(value);
        const std::vector<std::string>& behind = figure_.grid_runs[y][x];
        numbers.back().push_back(!there ? Json() : Json(colour.log ? std::log10(value) : value));
        shown.back().push_back(there && digits ? fmt::format("{:.{}f}", value, *digits) : "");
        texts.back().push_back(fmt::format("{}: {}<br>{}: {}<br>{}: {}{}", plain(figure_.x_label),
                                           plain(figure_.x_names[x]), plain(figure_.y_label), plain(figure_.y_names[y]),
                                           plain(figure_.value_label), there ? value_text(value) : "–",
                                           runs_lines(behind)));
        runs.back().push_back(behind);
      }
    }
    Json trace = {{"z", std::move(numbers)}, {"hovertext", std::move(texts)}, {"customdata", std::move(runs)}};
    trace["hoverinfo"] = "text";
    trace["hoverongaps"] = false;
    if (digits) {
      trace["text"] = std::move(shown);
      trace["texttemplate"] = "%{text}";
    }
    return trace;
  }

  static Json axis_of(const std::string& title) {
    return {{"title", {{"text", plain(title)}, {"standoff", 10}}},
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

  static Json axis_of(const std::string& title, const Axis& axis) {
    Json json = axis_of(title);
    const auto scaled = [&](double value) { return axis.log ? std::log10(value) : value; };
    json["type"] = axis.log ? "log" : "linear";
    json["range"] = {scaled(axis.range.low), scaled(axis.range.high)};
    json["tickvals"] = axis.ticks;
    json["ticktext"] = tick_texts(axis);
    return json;
  }

  static Json axis_of(const std::string& title, const std::vector<std::string>& names, double margin) {
    Json json = axis_of(title);
    json["range"] = {-margin, static_cast<double>(names.size()) - 1 + margin};
    json["tickvals"] = places(names.size());
    json["ticktext"] = plain(names);
    return json;
  }

  Json layout() const {
    Json json = {{"font", {{"family", kFont}, {"size", 13}, {"color", "#333333"}}},
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
                 {"showlegend", has_legend(figure_)}};
    if (figure_.description.kind == FigureDescription::Kind::kHeatmap) {
      json["xaxis"] = axis_of(figure_.x_label, figure_.x_names, 0.5);
      json["yaxis"] = axis_of(figure_.y_label, figure_.y_names, 0.5);
      for (const char* axis : {"xaxis", "yaxis"}) {
        json[axis]["showgrid"] = false;
        json[axis]["showline"] = false;
        json[axis]["ticks"] = "";
      }
      return json;
    }
    json["xaxis"] = figure_.x_names.empty() ? axis_of(figure_.x_label, x_axis(figure_))
                                            : axis_of(figure_.x_label, figure_.x_names, 0.6);
    json["yaxis"] = axis_of(figure_.y_label, y_axis(figure_));
    if (is_text()) {
      json["xaxis"]["showgrid"] = false;
      json["xaxis"]["ticks"] = "";
      json["xaxis"]["tickangle"] = has_long_tokens(figure_) ? -90 : 0;
      json["xaxis"]["tickfont"] = {{"family", fmt::format("'{}', monospace", kTextFont)}, {"size", text_size()}};
    }
    if (is_bars()) {
      json["bargap"] = 1 - kBarsWidth;
      json["bargroupgap"] = 0.06;
      json["xaxis"]["showgrid"] = false;
    }
    return json;
  }

  const Figure& figure_;
  Json traces_ = Json::array();
};

}  // namespace

Json plotly_figure(const Figure& figure) { return Plot(figure).json(); }

}  // namespace xlm
