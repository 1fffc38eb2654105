// A line along a text, which stands below it: a number that models report for every token.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/figure_series.h"
#include "results/figures/plotly_parts.h"

namespace xlm {
namespace {

/// The text's font: all characters have the same width.
constexpr std::string_view kTextFont = "DejaVu Sans Mono";

std::string problem_of_text(const FigureDescription& description) {
  if (description.y.empty()) return "shows a text, so it needs y: a number that models report for every token (span)";
  if (!description.x.empty() || !description.value.empty())
    return "shows a text in place of x, so it has no x or value";
  if (description.front) return "shows a text, which has no Pareto front";
  const bool log = description.x_scale == FigureDescription::Scale::kLog;
  return log ? "shows a text, which has no log scale on x" : "";
}

/// The label of a token: a single sign if it is a single character or byte.
std::string token_label(const std::string& token) {
  if (token == "\n") return "↵";
  if (token.size() == 1 && static_cast<unsigned char>(token.front()) < 0x20) return "·";
  return token.starts_with("<0x") ? "\ufffd" : token;
}

/// What runs report for the shown tokens.
struct TracedText {
  std::vector<FigureSample> samples;
  std::map<std::int64_t, std::string> tokens;  // by place in the split
  std::string other;                           // a run on a different text; empty: none
};

void add_tokens(RunTable& runs, const FigureDescription& description, const std::string& name, std::size_t run,
                TracedText& text) {
  runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(database,
                            "SELECT place, value, token FROM traces WHERE run_id = ? AND split = ? AND name = ? "
                            "AND place >= ? AND place < ? ORDER BY place");
    query.bind(1, runs.id(run));
    query.bind(2, description.split);
    query.bind(3, name);
    query.bind(4, description.first);
    query.bind(5, description.first + description.tokens);
    while (query.executeStep()) {
      const std::int64_t place = query.getColumn(0).getInt64();
      const std::string token = query.getColumn(2).getString();
      const bool same = text.tokens.try_emplace(place, token).first->second == token;
      if (!same && text.other.empty()) text.other = runs.id(run);
      text.samples.push_back({run, place, query.getColumn(1).getDouble()});
    }
  });
}

/// What runs report for the tokens under `name`.
TracedText traced_text(RunTable& runs, const FigureDescription& description, const std::string& name,
                       const std::vector<std::size_t>& selected) {
  TracedText text;
  for (const std::size_t run : selected) add_tokens(runs, description, name, run, text);
  return text;
}

/// Adds lines after the tokens that most runs of a series mark. `marked` is the series of the reported marks.
void add_marks(const std::vector<FigureSeries>& marked, std::vector<FigureSeries>& series) {
  for (FigureSeries& line : series) {
    for (const FigureSeries& marks : marked) {
      if (marks.label != line.label) continue;
      for (const FigurePoint& point : marks.points) {
        if (point.y > 0.5) line.marks.push_back(point.x);
      }
    }
  }
}

NothingToShow nothing_said(const FigureDescription& description, const std::string& name, std::size_t runs) {
  return no_figure(description, fmt::format("none of {} runs reports '{}' for the tokens from {} on of the {} split",
                                            runs, name, description.first, description.split));
}

NothingToShow two_texts(const FigureDescription& description, const std::string& run) {
  const std::string reason =
      fmt::format("the figure '{}' shows runs on different texts ({} has another)", description.title, run);
  return {description.title, reason, reason + "\nchoose one with `where: {data.name: …}`"};
}

BuiltFigure build_text(RunTable& runs, const FigureDescription& description, const std::vector<std::size_t>& selected) {
  Figure figure = labelled_figure(description);
  SeriesBuilder builder(runs, figure);
  const TracedText text = traced_text(runs, description, description.y, selected);
  if (!text.other.empty()) return two_texts(description, text.other);
  if (text.samples.empty()) return nothing_said(description, description.y, selected.size());
  for (const auto& [place, token] : text.tokens) builder.add_place(place, token_label(token));
  if (description.x_label.empty()) {
    figure.x_label = fmt::format("{} split, tokens {} to {}", description.split, text.tokens.begin()->first,
                                 text.tokens.rbegin()->first);
  }
  std::vector<FigureSeries> marked;
  if (!description.marks.empty()) {
    const TracedText marks = traced_text(runs, description, description.marks, selected);
    if (marks.samples.empty()) return nothing_said(description, description.marks, selected.size());
    builder.add(marks.samples, false, false);
    marked.swap(figure.series);
    figure.notes.clear();
  }
  builder.add(text.samples, true, false);
  add_marks(marked, figure.series);
  return figure;
}

/// Whether some tokens have more than two characters. They are written upright.
bool has_long_tokens(const std::vector<std::string>& tokens) {
  return std::ranges::any_of(tokens, [](const std::string& token) { return display_width(token) > 2; });
}

/// The width in pixels below which characters of a size would touch. A narrower page scrolls.
double least_width(const Figure& figure, double size) {
  constexpr double kAroundText = 100;  // the axis, and half a token at both ends
  constexpr double kMaxPageWidth = 850;
  const double letter = size * (has_long_tokens(figure.x_names) ? 1.1 : 0.68);  // rotated, or upright with some room
  return std::min(kMaxPageWidth, std::round(kAroundText + letter * static_cast<double>(figure.x_names.size())));
}

Json text_plot(const Figure& figure) {
  Json x_axis = plotly_x_axis(figure);
  x_axis["showgrid"] = false;
  x_axis["ticks"] = "";
  x_axis["tickangle"] = has_long_tokens(figure.x_names) ? -90 : 0;
  // Keeps characters apart on a page of 900 pixels.
  const double size = std::min(12.0, 1100 / static_cast<double>(figure.x_names.size()));
  x_axis["tickfont"] = {{"family", fmt::format("'{}', monospace", kTextFont)}, {"size", size}};
  Json plot = plotly_whole(figure, plotly_series(figure, "token"), std::move(x_axis),
                           plotly_axis(figure.y_label, y_axis(figure)));
  plot["least_width"] = least_width(figure, size);
  Json shapes = Json::array();
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    for (const double place : figure.series[i].marks) {
      shapes.push_back({{"type", "line"},
                        {"x0", place + 0.5},
                        {"x1", place + 0.5},
                        {"yref", "paper"},
                        {"y0", 0},
                        {"y1", 1},
                        {"layer", "below"},
                        {"line", {{"color", mark_colour(figure, i)}, {"width", 1}}}});
    }
  }
  if (!shapes.empty()) plot["layout"]["shapes"] = std::move(shapes);
  return plot;
}

}  // namespace

FigureKind text_kind() {
  return {.name = "text", .shows_marks = true, .problem = problem_of_text, .build = build_text, .plotly = text_plot};
}

}  // namespace xlm
