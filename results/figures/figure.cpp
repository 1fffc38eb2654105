// A figure's numbers, computed from the store.
#include "results/figures/figure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/store/pareto.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr std::size_t kMostTicks = 12;

/// A number of one run, on its way to a point.
struct Sample {
  std::size_t run = 0;
  Value x;
  double y = 0;
};

struct ValueOrder {
  bool operator()(const Value& a, const Value& b) const { return value_less(a, b); }
};

/// "test.bpc" → "test bpc", "model.span" → "span", "flops_per_token" → "FLOPs per token".
std::string axis_label(const std::string& column) {
  static const std::map<std::string, std::string> names{{"flops_per_token", "FLOPs per token"},
                                                        {"paper_flops", "FLOPs per token, as the paper counts"},
                                                        {"params", "parameters"},
                                                        {"peak_memory", "peak memory, bytes"},
                                                        {"step_seconds", "seconds per step"},
                                                        {"data.name", "data"}};
  if (const auto known = names.find(column); known != names.end()) return known->second;
  std::string text = column.starts_with("model.") ? column.substr(6) : column;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '.' || c == '_'; }, ' ');
  return text;
}

/// Numbers in a legend need the name of what they number.
std::string series_label(const std::string& column, const Value& value) {
  return as_number(value) ? axis_label(column) + " " + to_text(value) : to_text(value);
}

/// A token under a line: one sign where it is a single character or byte.
std::string token_label(const std::string& token) {
  if (token == "\n") return "↵";
  if (token.size() == 1 && static_cast<unsigned char>(token.front()) < 0x20) return "·";
  return token.starts_with("<0x") ? "\ufffd" : token;
}

/// Computes one figure.
class FigureBuilder {
 public:
  FigureBuilder(RunTable& runs, const FigureDescription& description, std::vector<std::size_t> selected)
      : runs_(runs), selected_(std::move(selected)) {
    figure_.description = description;
    figure_.x_label = description.x_label.empty() ? axis_label(description.x) : description.x_label;
    figure_.y_label = description.y_label.empty() ? axis_label(description.y) : description.y_label;
    figure_.value_label = axis_label(description.value);
  }

  Figure build() {
    if (selected_.empty()) fail("no run fulfils its conditions");
    if (!figure_.description.grid.empty()) {
      add_spans();
    } else if (figure_.description.kind == FigureDescription::Kind::kHeatmap) {
      add_heatmap();
    } else {
      add_series();
      if (figure_.description.front) add_front();
    }
    return std::move(figure_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(
        fmt::format("the figure '{}' has nothing to show: {}\n"
                    "`xlm runs ls` lists the runs, `xlm sweep` makes them",
                    figure_.description.title, why));
  }

  std::vector<Sample> samples() {
    const FigureDescription& description = figure_.description;
    std::vector<Sample> result;
    if (description.kind == FigureDescription::Kind::kText) {
      for (const std::size_t run : selected_) add_tokens(run, result);
      if (result.empty()) fail_without_text();
    } else if (description.x == "step") {
      for (const std::size_t run : selected_) add_steps(run, result);
    } else {
      const std::vector<Value>& xs = runs_.column(description.x);
      const std::vector<Value>& ys = runs_.column(description.y);
      for (const std::size_t run : selected_) {
        const std::optional<double> y = as_number(ys[run]);
        if (!is_missing(xs[run]) && y && std::isfinite(*y)) result.push_back({run, xs[run], *y});
      }
    }
    if (result.empty())
      fail(fmt::format("none of {} runs has both {} and {}", selected_.size(), description.x, description.y));
    return result;
  }

  /// The series of a metric or of the evaluations of a split over training. Those that were asked for later, which name
  /// their settings, are no part of it, unless one of them is the run's own result.
  void add_steps(std::size_t run, std::vector<Sample>& out) {
    const std::string& y = figure_.description.y;
    const std::size_t dot = y.find('.');
    runs_.store().use([&](SQLite::Database& database) {
      SQLite::Statement query(database,
                              dot == std::string::npos
                                  ? "SELECT step, value FROM metrics WHERE run_id = ? AND name = ? ORDER BY step"
                                  : "SELECT step, value FROM evaluations WHERE run_id = ? AND split = ? AND metric = ? "
                                    "AND (main = 1 OR (final = 0 AND settings = '{}')) ORDER BY step");
      query.bind(1, runs_.id(run));
      query.bind(2, y.substr(0, dot));
      if (dot != std::string::npos) query.bind(3, y.substr(dot + 1));
      while (query.executeStep()) out.push_back({run, query.getColumn(0).getInt64(), query.getColumn(1).getDouble()});
    });
  }

  /// What a run says of the tokens that are shown.
  void add_tokens(std::size_t run, std::vector<Sample>& out) {
    const FigureDescription& description = figure_.description;
    runs_.store().use([&](SQLite::Database& database) {
      SQLite::Statement query(database,
                              "SELECT place, value, token FROM traces WHERE run_id = ? AND split = ? AND name = ? "
                              "AND place >= ? AND place < ? ORDER BY place");
      query.bind(1, runs_.id(run));
      query.bind(2, description.split);
      query.bind(3, description.y);
      query.bind(4, description.first);
      query.bind(5, description.first + description.tokens);
      while (query.executeStep()) {
        const std::int64_t place = query.getColumn(0).getInt64();
        const std::string token = query.getColumn(2).getString();
        if (text_.try_emplace(place, token).first->second != token) fail_of_two_texts(run);
        out.push_back({run, place, query.getColumn(1).getDouble()});
      }
    });
  }

  [[noreturn]] void fail_of_two_texts(std::size_t run) const {
    throw DataError(
        fmt::format("the figure '{}' shows runs on different texts ({} is one of another)\n"
                    "`where: {{data.name: …}}` picks those of one",
                    figure_.description.title, runs_.id(run)));
  }

  [[noreturn]] void fail_without_text() const {
    const FigureDescription& description = figure_.description;
    fail(fmt::format("none of {} runs says '{}' of the tokens from {} on of the {} split", selected_.size(),
                     description.y, description.first, description.split));
  }

  void add_series() {
    const FigureDescription& description = figure_.description;
    std::map<Value, std::vector<Sample>, ValueOrder> by_series;
    const std::vector<Value>* series = description.series.empty() ? nullptr : &runs_.column(description.series);
    const std::vector<Sample> all = samples();
    if (description.kind == FigureDescription::Kind::kText) {
      place_text();
    } else {
      place_x(all);
    }
    for (const Sample& sample : all) by_series[series == nullptr ? Value() : (*series)[sample.run]].push_back(sample);
    for (const auto& [value, members] : by_series) {
      FigureSeries line{series == nullptr   ? ""
                        : is_missing(value) ? "other"
                                            : series_label(description.series, value),
                        {}};
      line.points = points_of(members);
      figure_.series.push_back(std::move(line));
    }
    describe_points();
  }

  /// The text under a line along it.
  void place_text() {
    const FigureDescription& description = figure_.description;
    for (const auto& [place, token] : text_) {
      places_[place] = static_cast<double>(figure_.x_names.size());
      figure_.x_names.push_back(token_label(token));
    }
    if (!description.x_label.empty()) return;
    figure_.x_label =
        fmt::format("{} split, tokens {} to {}", description.split, text_.begin()->first, text_.rbegin()->first);
  }

  /// Names for places where x is text, or bars stand side by side; ticks where x has few values.
  void place_x(const std::vector<Sample>& all) {
    std::set<Value, ValueOrder> values;
    for (const Sample& sample : all) values.insert(sample.x);
    const bool text = std::any_of(values.begin(), values.end(), [](const Value& value) { return !as_number(value); });
    if (text || figure_.description.kind == FigureDescription::Kind::kBars) {
      for (const Value& value : values) {
        places_[value] = static_cast<double>(figure_.x_names.size());
        figure_.x_names.push_back(to_text(value));
      }
    } else if (values.size() <= kMostTicks && figure_.description.x != "step" &&
               !runs_.is_measured(figure_.description.x)) {
      for (const Value& value : values) figure_.x_ticks.push_back(*as_number(value));
    }
  }

  double place(const Value& x) const {
    const auto named = places_.find(x);
    return named != places_.end() ? named->second : *as_number(x);
  }

  /// Runs of one point agree in what was set on x; where x is an outcome they differ in the seed alone.
  std::vector<FigurePoint> points_of(const std::vector<Sample>& samples) {
    const FigureDescription& description = figure_.description;
    const bool by_group = description.kind != FigureDescription::Kind::kText && description.x != "step" &&
                          runs_.is_measured(description.x);
    const std::vector<Value>& group = runs_.column(description.over == "seed" ? "seed_group" : "run_id");
    std::map<Value, std::vector<const Sample*>, ValueOrder> groups;
    for (const Sample& sample : samples) groups[by_group ? group[sample.run] : sample.x].push_back(&sample);
    std::vector<FigurePoint> points;
    for (const auto& [key, members] : groups) {
      FigurePoint point;
      std::vector<double> xs;
      std::vector<double> ys;
      std::set<std::string> distinct;
      for (const Sample* sample : members) {
        xs.push_back(place(sample->x));
        ys.push_back(sample->y);
        point.runs.push_back(runs_.id(sample->run));
        distinct.insert(to_text(runs_.column(description.over)[sample->run]));
      }
      mixed_ = mixed_ || distinct.size() < members.size();
      point.x = mean(xs);
      point.y = aggregated(ys, description.aggregate, Better::kLower);
      if (description.spread == Spread::kDeviation && description.aggregate == Aggregate::kMean)
        point.spread = sample_deviation(ys);
      most_ = std::max(most_, members.size());
      least_ = std::min(least_, members.size());
      points.push_back(std::move(point));
    }
    std::sort(points.begin(), points.end(), [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    return points;
  }

  void describe_points() {
    const FigureDescription& description = figure_.description;
    if (most_ > 1) {
      const bool deviation = description.spread == Spread::kDeviation && description.aggregate == Aggregate::kMean;
      figure_.caption = fmt::format(
          "{}{} over {}{} {}s", kAggregateNames[static_cast<std::size_t>(description.aggregate)],
          deviation ? " and standard deviation" : "", least_ < most_ ? "up to " : "", most_, description.over);
    }
    if (mixed_) {
      figure_.notes.push_back(
          fmt::format("the figure '{}' averages runs that differ in more than {}; `series` or `where` "
                      "can tell them apart",
                      description.title, description.over));
    }
  }

  void add_front() {
    using Maximize = FigureDescription::Maximize;
    const Maximize maximize = figure_.description.maximize;
    const std::vector<bool> flags{maximize == Maximize::kX || maximize == Maximize::kBoth,
                                  maximize == Maximize::kY || maximize == Maximize::kBoth};
    std::vector<ParetoPoint> points;
    for (const FigureSeries& series : figure_.series) {
      for (const FigurePoint& point : series.points) points.push_back({{point.x, point.y}, {}, ""});
    }
    std::vector<ParetoPoint> front = pareto_front(std::move(points), flags).front;
    std::sort(front.begin(), front.end(),
              [](const ParetoPoint& a, const ParetoPoint& b) { return a.values.front() < b.values.front(); });
    for (std::size_t i = 0; i < front.size(); ++i) {
      if (i > 0) {  // the corner of what both neighbours dominate
        const auto& a = front[i - 1].values;
        const auto& b = front[i].values;
        figure_.front.emplace_back(flags[0] ? a[0] : b[0], flags[1] ? std::min(a[1], b[1]) : std::max(a[1], b[1]));
      }
      figure_.front.emplace_back(front[i].values[0], front[i].values[1]);
    }
  }

  void add_heatmap() {
    const FigureDescription& description = figure_.description;
    const std::vector<Value>& xs = runs_.column(description.x);
    const std::vector<Value>& ys = runs_.column(description.y);
    const std::vector<Value>& values = runs_.column(description.value);
    struct Cell {
      std::vector<double> numbers;
      std::vector<std::string> runs;
    };
    std::map<Value, std::map<Value, Cell, ValueOrder>, ValueOrder> cells;  // by y and x
    std::set<Value, ValueOrder> columns;
    for (const std::size_t run : selected_) {
      const std::optional<double> number = as_number(values[run]);
      if (is_missing(xs[run]) || is_missing(ys[run]) || !number || !std::isfinite(*number)) continue;
      Cell& cell = cells[ys[run]][xs[run]];
      cell.numbers.push_back(*number);
      cell.runs.push_back(runs_.id(run));
      columns.insert(xs[run]);
    }
    if (cells.empty()) {
      fail(fmt::format("none of {} runs has {}, {} and {}", selected_.size(), description.x, description.y,
                       description.value));
    }
    for (const Value& x : columns) figure_.x_names.push_back(to_text(x));
    for (auto& [y, row] : cells) {
      figure_.y_names.push_back(to_text(y));
      std::vector<double>& values_of_row = figure_.grid.emplace_back();
      auto& runs_of_row = figure_.grid_runs.emplace_back();
      for (const Value& x : columns) {
        const Cell cell = row.contains(x) ? row[x] : Cell{};
        values_of_row.push_back(cell.numbers.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                     : aggregated(cell.numbers, description.aggregate, Better::kLower));
        runs_of_row.push_back(cell.runs);
      }
    }
  }

  /// Spans of the newest selected run that has any.
  void add_spans() {
    const std::vector<Value>& created = runs_.column("created");
    std::vector<std::size_t> order = selected_;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return value_less(created[b], created[a]); });
    std::size_t with_spans = 0;
    std::string chosen;
    for (const std::size_t run : order) {
      std::vector<std::vector<double>> grid = spans_of(runs_.id(run));
      if (grid.empty()) continue;
      if (++with_spans > 1) continue;
      chosen = runs_.id(run);
      figure_.grid = std::move(grid);
    }
    if (figure_.grid.empty()) fail(fmt::format("none of {} runs has spans in its journal", selected_.size()));
    if (with_spans > 1) {
      figure_.notes.push_back(fmt::format("the figure '{}' shows {}, the newest of {} runs; `where` picks another",
                                          figure_.description.title, chosen, with_spans));
    }
    figure_.caption = chosen;
    for (const auto& row : figure_.grid) figure_.grid_runs.emplace_back(row.size(), std::vector<std::string>{chosen});
    label_spans(chosen);
  }

  void label_spans(const std::string& chosen) {
    const FigureDescription& description = figure_.description;
    const bool heatmap = description.kind == FigureDescription::Kind::kHeatmap;
    figure_.x_label = !description.x_label.empty() ? description.x_label : heatmap ? "head" : "layer";
    figure_.y_label = !description.y_label.empty() ? description.y_label : heatmap ? "layer" : "span";
    figure_.value_label = "span";
    for (std::size_t layer = 1; layer <= figure_.grid.size(); ++layer) {
      (heatmap ? figure_.y_names : figure_.x_names).push_back(fmt::format("{}", layer));
    }
    if (heatmap) {
      for (std::size_t head = 1; head <= figure_.grid.front().size(); ++head) {
        figure_.x_names.push_back(fmt::format("{}", head));
      }
      return;
    }
    FigureSeries heads{"one head", {}};
    FigureSeries means{"mean of the layer", {}};
    for (std::size_t layer = 0; layer < figure_.grid.size(); ++layer) {
      const std::vector<double>& row = figure_.grid[layer];
      for (std::size_t head = 0; head < row.size(); ++head) {  // side by side, so that equal spans can be told apart
        const double offset =
            (static_cast<double>(head) - static_cast<double>(row.size() - 1) / 2) / static_cast<double>(row.size());
        heads.points.push_back({static_cast<double>(layer) + 0.6 * offset, row[head], std::nullopt, {chosen}});
      }
      means.points.push_back({static_cast<double>(layer), mean(row), std::nullopt, {chosen}});
    }
    figure_.series = {std::move(heads), std::move(means)};
    figure_.grid.clear();
    figure_.grid_runs.clear();
  }

  std::vector<std::vector<double>> spans_of(const std::string& run_id) {
    return runs_.store().use([&](SQLite::Database& database) {
      std::vector<std::vector<double>> grid;
      SQLite::Statement query(database,
                              "SELECT layer, head, span FROM last_spans WHERE run_id = ? ORDER BY layer, head");
      query.bind(1, run_id);
      std::int64_t layer = 0;
      while (query.executeStep()) {
        if (query.getColumn(0).getInt64() != layer) grid.emplace_back();
        layer = query.getColumn(0).getInt64();
        grid.back().push_back(query.getColumn(2).getDouble());
      }
      return grid;
    });
  }

  RunTable& runs_;
  std::vector<std::size_t> selected_;
  Figure figure_;
  std::map<Value, double, ValueOrder> places_;
  std::map<std::int64_t, std::string> text_;  // tokens by their place
  std::size_t most_ = 0;                      // runs behind one point
  std::size_t least_ = std::numeric_limits<std::size_t>::max();
  bool mixed_ = false;
};

}  // namespace

std::vector<std::string> runs_of(const Figure& figure) {
  std::set<std::string> runs;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) runs.insert(point.runs.begin(), point.runs.end());
  }
  for (const auto& row : figure.grid_runs) {
    for (const std::vector<std::string>& cell : row) runs.insert(cell.begin(), cell.end());
  }
  return {runs.begin(), runs.end()};
}

Figure build_figure(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters) {
  std::vector<std::size_t> selected = runs.select(filters);
  selected = runs.select(selected, description.where);
  return FigureBuilder(runs, description, std::move(selected)).build();
}

}  // namespace xlm
