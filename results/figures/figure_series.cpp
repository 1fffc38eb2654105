// Computes series of points.
#include "results/figures/figure_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/figures/common_grid.h"
#include "results/figures/plot_style.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/pareto.h"
#include "results/store/statistics.h"
#include "results/store/unmet_condition.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxTicks = 12;
constexpr const char* kSayMaximize = "say it for this figure alone: `maximize: x`, y, both or none";

/// A run and those that it goes on from, each up to the step at which the next one begins. A program's checkpoint may
/// be older than the step at which it was seen.
constexpr std::string_view kFamily =
    "WITH RECURSIVE family(run_id, last) AS (SELECT ?1, 9e15 UNION ALL "
    "SELECT r.parent, min(f.last, r.parent_step, coalesce((SELECT min(step) - 1 FROM metrics m WHERE m.run_id = "
    "f.run_id), 9e15)) FROM family f JOIN stored_runs r ON r.run_id = f.run_id "
    "WHERE r.parent IS NOT NULL LIMIT 1000) ";

/// A metric, or the evaluations of a split, over training, with the past in the runs that a run goes on from. Leaves
/// out later evaluations with other settings, unless one is the run's main result. Returns how many numbers were left
/// out because they are not finite.
std::int64_t add_steps(RunTable& runs, const std::string& y, std::size_t run, std::vector<FigureSample>& out) {
  const std::optional<EvaluationColumn> evaluation = evaluation_column(y);
  return runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(
        database,
        std::string(kFamily) +
            (!evaluation ? "SELECT step, value FROM family JOIN metrics USING (run_id) WHERE name = ?2 "
                           "AND step <= last ORDER BY step"
                         : "SELECT e.step, v.value, (SELECT value FROM json_each(e.\"values\") WHERE key = 'tokens') "
                           "FROM family f JOIN stored_runs r USING (run_id) JOIN stored_evaluations e USING (number), "
                           "json_each(e.\"values\") v WHERE e.split = ?2 AND v.key = ?3 AND ((e.main = 1 AND "
                           "f.run_id = ?1) OR (e.final = 0 AND e.settings = '{}')) AND e.step <= last "
                           "ORDER BY e.step"));
    query.bind(1, runs.id(run));
    query.bind(2, evaluation ? evaluation->split : y);
    if (evaluation) query.bind(3, evaluation->name);
    std::int64_t lost = 0;
    while (query.executeStep()) {
      const double tokens = query.getColumnCount() > 2 ? query.getColumn(2).getDouble() : 0;
      if (query.isColumnNull(1) || !std::isfinite(query.getColumn(1).getDouble())) {
        ++lost;
        continue;
      }
      out.push_back({run, query.getColumn(0).getInt64(), query.getColumn(1).getDouble(), tokens});
    }
    return lost;
  });
}

/// Puts samples by step at what the run had spent there. Between two records it is taken to grow evenly; a run whose
/// records do not say it has no samples.
std::vector<FigureSample> by_axis(RunTable& runs, const std::string& axis, const std::vector<FigureSample>& samples) {
  std::map<std::size_t, std::map<double, double>> spent;  // by run and step
  std::vector<FigureSample> placed;
  for (const FigureSample& sample : samples) {
    auto known = spent.find(sample.run);
    if (known == spent.end()) {
      std::vector<FigureSample> records;
      add_steps(runs, axis_series(axis), sample.run, records);
      if (records.empty()) add_steps(runs, axis, sample.run, records);  // as a program calls what it reports
      known = spent.emplace(sample.run, std::map<double, double>()).first;
      for (const FigureSample& record : records) known->second[as_number(record.x).value_or(0)] = record.y;
    }
    const std::map<double, double>& of_run = known->second;
    const double step = as_number(sample.x).value_or(0);
    const auto next = of_run.lower_bound(step);
    if (next == of_run.end()) continue;
    const auto before = next == of_run.begin() ? std::pair<const double, double>(0, 0) : *std::prev(next);
    const double share = next->first > before.first ? (step - before.first) / (next->first - before.first) : 1;
    placed.push_back({sample.run, before.second + share * (next->second - before.second), sample.y, sample.tokens});
  }
  return placed;
}

/// `lost`: numbers along training that are not finite.
std::vector<FigureSample> samples_of(RunTable& runs, const FigureDescription& description,
                                     const std::vector<std::size_t>& selected, std::int64_t& lost) {
  std::vector<FigureSample> samples;
  if (is_along_training(description.x)) {
    for (const std::size_t run : selected) lost += add_steps(runs, description.y, run, samples);
    return axis_series(description.x).empty() ? samples : by_axis(runs, description.x, samples);
  }
  const std::vector<Value>& xs = runs.column(description.x);
  const std::vector<Value>& ys = runs.column(description.y);
  for (const std::size_t run : selected) {
    const std::optional<double> y = as_number(ys[run]);
    if (!is_missing(xs[run]) && y && std::isfinite(*y)) samples.push_back({run, xs[run], *y});
  }
  return samples;
}

/// Counts times from the earliest one, in a unit in which people say how long that is. Returns the unit.
std::string count_from_first(std::vector<FigureSample>& samples) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits{
      {{1, "seconds"}, {60, "minutes"}, {3600, "hours"}, {86400, "days"}}};
  constexpr double kAtLeast = 2;  // of a unit
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  for (const FigureSample& sample : samples) {
    first = std::min(first, *as_number(sample.x));
    last = std::max(last, *as_number(sample.x));
  }
  auto unit = kUnits.front();
  for (const auto& larger : kUnits) {
    if (last - first >= kAtLeast * larger.first) unit = larger;
  }
  for (FigureSample& sample : samples) sample.x = (*as_number(sample.x) - first) / unit.first;
  return std::string(unit.second);
}

/// Where some runs end, the mean of the others may jump although no run does. Returns whether there is such a place.
bool note_where_runs_end(Figure& figure, const FigureSeries& line) {
  const auto count = [](const FigurePoint& point) {
    return std::set<std::string>(point.runs.begin(), point.runs.end()).size();
  };
  std::size_t most = 0;
  for (const FigurePoint& point : line.points) most = std::max(most, count(point));
  const auto full = std::find_if(line.points.rbegin(), line.points.rend(),
                                 [&](const FigurePoint& point) { return count(point) == most; });
  if (full == line.points.rbegin() || full == line.points.rend()) return false;
  figure.notes.push_back(
      fmt::format("the figure '{}'{}: behind {} {} some of {} runs have ended, and a point is over those that go on",
                  figure.description.title, line.label.empty() ? "" : ", " + line.label, figure.description.x,
                  in_thousands(std::llround(full->x)), most));
  return true;
}

/// The staircase of the points that no other point dominates.
std::vector<std::pair<double, double>> staircase(std::vector<ParetoPoint> points, const std::vector<bool>& flags) {
  std::vector<ParetoPoint> front = pareto_front(std::move(points), flags).front;
  std::ranges::sort(front,
                    [](const ParetoPoint& a, const ParetoPoint& b) { return a.values.front() < b.values.front(); });
  std::vector<std::pair<double, double>> corners;
  for (std::size_t i = 0; i < front.size(); ++i) {
    if (i > 0) {  // the corner that both neighbours dominate
      const auto& a = front[i - 1].values;
      const auto& b = front[i].values;
      corners.emplace_back(flags[0] ? a[0] : b[0], flags[1] ? std::min(a[1], b[1]) : std::max(a[1], b[1]));
    }
    corners.emplace_back(front[i].values[0], front[i].values[1]);
  }
  return corners;
}

/// The axes of a front on which more is better: as `maximize` says, otherwise as the runs declare it of what is not
/// among the known quantities.
std::vector<bool> maximized_axes(RunTable& runs, const std::vector<std::size_t>& rows,
                                 const FigureDescription& description) {
  using Maximize = FigureDescription::Maximize;
  const Maximize maximize = description.maximize;
  if (description.says_maximize) {
    return {maximize == Maximize::kX || maximize == Maximize::kBoth,
            maximize == Maximize::kY || maximize == Maximize::kBoth};
  }
  const std::string asker = "`front`";
  const auto is_higher = [&](const std::string& column, bool is_series) {
    const std::string name = quantity_in(column);
    if (!is_series || known_direction(name)) {
      return front_direction(runs, rows, column, asker, kSayMaximize) == Better::kHigher;
    }
    const std::optional<Better> declared = declared_direction(runs, rows, name);
    if (!declared) throw UsageError(no_direction(column, asker, kSayMaximize));
    return declared == Better::kHigher;
  };
  return {is_higher(description.x, false), is_higher(description.y, is_along_training(description.x))};
}

/// The same as a figure shows it, by what the description says of the label or the value.
std::string value_label(const FigureDescription& description, const std::string& column, const Value& value) {
  const std::string label = series_label(column, value);
  std::string by_label = renamed(description, label);
  if (by_label != label) return by_label;
  const std::string text = is_missing(value) ? "other" : to_text(value);
  const std::string by_value = renamed(description, text);
  return by_value == text ? label : by_value;
}

/// A front for each corpus: runs on different texts cannot be compared.
void add_fronts(RunTable& runs, const std::vector<std::size_t>& rows, Figure& figure) {
  const std::vector<bool> flags = maximized_axes(runs, rows, figure.description);
  std::map<std::string, std::vector<ParetoPoint>> points;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) points[point.corpus].push_back({{point.x, point.y}, {}, ""});
  }
  for (auto& [corpus, of_corpus] : points) {
    std::string label = renamed(figure.description, std::string(kFrontTitle));
    if (points.size() > 1) label += ", " + corpus;
    figure.fronts.push_back({std::move(label), staircase(std::move(of_corpus), flags)});
  }
}

}  // namespace

std::string series_label(const std::string& column, const Value& value) {
  if (is_missing(value)) return "other";
  return as_number(value) ? column_label(column) + " " + to_text(value) : shown_text(value);
}

SeriesBuilder::SeriesBuilder(RunTable& runs, Figure& figure)
    : runs_(runs), figure_(figure), variation_(runs, figure.description.over) {
  for (const std::string& column : figure.description.series) series_.push_back(&runs.column(column));
}

std::vector<Value> SeriesBuilder::key_of(std::size_t run) const {
  std::vector<Value> key;
  const std::map<std::string, std::string>& same = figure_.description.same_series;
  for (const std::vector<Value>* column : series_) {
    const auto other = same.find(to_text((*column)[run]));
    key.push_back(other == same.end() ? (*column)[run] : to_value(other->second));
  }
  return key;
}

std::string SeriesBuilder::label_of(const std::vector<Value>& key, bool rename) const {
  const FigureDescription& description = figure_.description;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const std::string& column = description.series[i];
    parts.push_back(rename ? value_label(description, column, key[i]) : series_label(column, key[i]));
  }
  if (key.size() > series_.size()) {
    parts.push_back(fmt::format("on {} tokens", in_thousands(std::llround(*as_number(key.back())))));
  }
  const std::string whole = join(parts, ", ");
  return rename && parts.size() > 1 ? renamed(description, whole) : whole;
}

void SeriesBuilder::add_place(const Value& x, std::string name) {
  places_[x] = static_cast<double>(figure_.x_names.size());
  figure_.x_names.push_back(std::move(name));
}

void SeriesBuilder::place(const std::vector<FigureSample>& samples, bool side_by_side) {
  std::set<Value, ValueOrder> values;
  for (const FigureSample& sample : samples) values.insert(sample.x);
  const bool text = std::ranges::any_of(values, [](const Value& value) { return !as_number(value); });
  if (text || side_by_side) {
    for (const Value& value : values) add_place(value, renamed(figure_.description, to_text(value)));
  } else if (values.size() <= kMaxTicks && !is_along_training(figure_.description.x) &&
             !runs_.is_measured(figure_.description.x) && !is_time_column(figure_.description.x)) {
    for (const Value& value : values) figure_.x_ticks.push_back(*as_number(value));
  }
}

double SeriesBuilder::place_of(const Value& x) const {
  const auto named = places_.find(x);
  return named != places_.end() ? named->second : *as_number(x);
}

void SeriesBuilder::add(const std::vector<FigureSample>& samples, bool joined, bool of_outcome) {
  if (figure_.description.front) find_corpora(samples);
  std::map<std::vector<Value>, std::vector<FigureSample>, ValueOrder> by_series;
  tell_parts_apart(samples);
  for (const FigureSample& sample : samples) {
    std::vector<Value> key = key_of(sample.run);
    if (of_parts_.contains(key)) key.emplace_back(sample.tokens);
    by_series[std::move(key)].push_back(sample);
  }
  const bool is_spent = !axis_series(figure_.description.x).empty();
  const bool is_curve = joined && is_along_training(figure_.description.x);
  bool some_end = false;
  bool is_interpolated = false;
  bool some_single = false;
  for (auto& [key, members] : by_series) {
    const bool is_single = (is_spent || is_curve) && have_one_each(members);
    const bool differ = !is_single && (is_spent || is_curve) && have_other_places(members);
    if ((is_spent && !is_single) || differ) members = on_common_grid(members);
    is_interpolated = is_interpolated || differ;
    FigureSeries line;
    line.label = label_of(key, true);
    line.value = label_of(key, false);
    if (!series_.empty()) line.plain = to_text(key.front());
    line.points = points_of(members, of_outcome || is_single);
    line.joined = joined && !is_single;
    some_single = some_single || is_single;
    if (is_curve && !is_single && note_where_runs_end(figure_, line)) some_end = true;
    figure_.series.push_back(std::move(line));
  }
  describe_variation(figure_, variation_);
  if (is_interpolated) add_to_caption(figure_, "interpolated between a run's own places");
  if (some_end) add_to_caption(figure_, "some runs end before others");
  if (some_single) add_to_caption(figure_, "runs with one number each are a point at their mean place");
}

/// Finds the series in which a run measured several parts of a text, such as a share while it trained and all of it at
/// the end. One line through both would rise or fall where the model does not.
void SeriesBuilder::tell_parts_apart(const std::vector<FigureSample>& samples) {
  std::map<std::size_t, double> tokens;
  for (const FigureSample& sample : samples) {
    if (sample.tokens > 0 && tokens.try_emplace(sample.run, sample.tokens).first->second != sample.tokens) {
      of_parts_.insert(key_of(sample.run));
    }
  }
}

void SeriesBuilder::find_corpora(const std::vector<FigureSample>& samples) {
  std::vector<std::size_t> rows;
  for (const FigureSample& sample : samples) rows.push_back(sample.run);
  const std::vector<std::string> corpora = corpora_of(runs_, rows, {figure_.description.x, figure_.description.y});
  for (std::size_t i = 0; i < rows.size(); ++i) corpora_[rows[i]] = corpora[i];
}

/// The corpus that all of these rows were evaluated on.
std::string SeriesBuilder::corpus_of(const std::vector<std::size_t>& rows) const {
  std::set<std::string> corpora;
  for (const std::size_t row : rows) {
    if (const auto known = corpora_.find(row); known != corpora_.end()) corpora.insert(known->second);
  }
  return corpora.size() > 1 ? "means over corpora" : corpora.empty() ? "" : *corpora.begin();
}

std::vector<FigurePoint> SeriesBuilder::points_of(const std::vector<FigureSample>& samples, bool of_outcome) {
  const std::vector<Value>& group = runs_.column(figure_.description.over == "seed" ? "seed_group" : "run_id");
  std::map<Value, std::vector<const FigureSample*>, ValueOrder> groups;
  for (const FigureSample& sample : samples) groups[of_outcome ? group[sample.run] : sample.x].push_back(&sample);
  std::vector<FigurePoint> points;
  for (const auto& [key, members] : groups) points.push_back(point_of(members));
  std::ranges::sort(points, [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
  return points;
}

FigurePoint SeriesBuilder::point_of(const std::vector<const FigureSample*>& members) {
  const FigureDescription& description = figure_.description;
  FigurePoint point;
  std::vector<double> xs;
  std::vector<double> ys;
  std::vector<std::size_t> rows;
  for (const FigureSample* sample : members) {
    xs.push_back(place_of(sample->x));
    ys.push_back(sample->y);
    point.runs.push_back(runs_.id(sample->run));
    rows.push_back(sample->run);
  }
  variation_.add(rows);
  point.corpus = corpus_of(rows);
  point.x = mean(xs);
  point.y = aggregated(ys, description.aggregate);
  if (description.spread == Spread::kDeviation && description.aggregate == Aggregate::kMean)
    point.spread = sample_deviation(ys);
  return point;
}

void add_to_caption(Figure& figure, const std::string& part) {
  figure.caption += (figure.caption.empty() ? "" : "; ") + part;
}

void describe_variation(Figure& figure, const Variation& variation) {
  const FigureDescription& description = figure.description;
  const std::string what = variation.text();
  if (what.empty()) return;
  const bool deviation = description.spread == Spread::kDeviation && description.aggregate == Aggregate::kMean &&
                         description.value.empty();
  figure.caption = fmt::format("{}{} over {}", kAggregateNames[static_cast<std::size_t>(description.aggregate)],
                               deviation ? " and standard deviation" : "", what);
  if (variation.is_mixed()) {
    figure.notes.push_back(fmt::format("a point of the figure '{}' combines {}; separate them with `{}where`",
                                       description.title, what, description.value.empty() ? "series` or `" : ""));
  }
}

std::string why_no_numbers(RunTable& runs, const std::string& column, const std::vector<std::size_t>& selected) {
  const std::vector<Value>& values = runs.column_or_nothing(column);
  for (const std::size_t run : selected) {
    if (!std::holds_alternative<std::string>(values[run])) continue;
    return fmt::format("{} is text ('{}'), not a number", column, to_text(values[run]));
  }
  return "";
}

std::string problem_of_columns(const FigureDescription& description) {
  return description.x.empty() || description.y.empty() ? "needs x and y (columns of the store), or a grid" : "";
}

BuiltFigure series_figure(RunTable& runs, const FigureDescription& description,
                          const std::vector<std::size_t>& selected, const SeriesRules& rules) {
  Figure figure = labelled_figure(description);
  SeriesBuilder builder(runs, figure);
  std::int64_t lost = 0;
  std::vector<FigureSample> samples = samples_of(runs, description, selected, lost);
  if (samples.empty()) {
    const std::string text = why_no_numbers(runs, description.y, selected);
    if (!text.empty()) return no_figure(description, text);
    const std::string further = further_settings(runs, description.where, {description.x, description.y});
    const std::string& x = description.x;
    const std::string how = axis_series(x).empty() ? "" : fmt::format("; a program prints them itself: (?<{}>…)", x);
    return no_figure(description, fmt::format("none of {} runs has both {} and {}{}{}", selected.size(), x,
                                              description.y, further.empty() ? "" : "; " + further, how));
  }
  const bool is_time = is_time_column(description.x);
  if (is_time) {
    const std::string unit = count_from_first(samples);
    if (description.x_label.empty()) figure.x_label += fmt::format(", {} after the first run", unit);
  }
  builder.place(samples, rules.side_by_side);
  const bool of_outcome = is_time || (!is_along_training(description.x) && runs.is_measured(description.x));
  builder.add(samples, rules.joined, of_outcome);
  if (lost > 0) {
    add_to_caption(figure, fmt::format("left out: {} that {} not finite",
                                       counted(static_cast<std::size_t>(lost), "number"), lost == 1 ? "is" : "are"));
  }
  if (description.front) add_fronts(runs, selected, figure);
  return figure;
}

}  // namespace xlm
