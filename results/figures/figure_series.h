// Series of points: numbers of single runs become points with a spread, and points become series with places on x.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/figure_kind.h"
#include "results/store/run_table.h"
#include "results/store/variation.h"

namespace xlm {

/// A number of one run, on its way to a point.
struct FigureSample {
  std::size_t run = 0;
  Value x;
  double y = 0;
};

struct SeriesRules {
  bool joined = false;        // by lines
  bool side_by_side = false;  // places on x stand side by side though they be numbers
};

/// Puts samples into the series of one figure, whose description says what the series are.
class SeriesBuilder {
 public:
  /// Throws UsageError where the store does not know a column of the series.
  SeriesBuilder(RunTable& runs, Figure& figure);

  /// The next place on x, by its name.
  void add_place(const Value& x, std::string name);

  /// Names for the places on x where they are text or stand side by side; ticks where x has few values.
  void place(const std::vector<FigureSample>& samples, bool side_by_side);

  /// The series, and a line about what their points are. Where `of_outcome`, x is an outcome of the runs, in which
  /// those of one setting differ, and a point is the seeds of one setting.
  void add(const std::vector<FigureSample>& samples, bool joined, bool of_outcome);

 private:
  struct ValueOrder {
    bool operator()(const Value& a, const Value& b) const { return value_less(a, b); }
  };

  /// What tells the series of a run apart: its values in the columns of the series.
  std::vector<Value> key_of(std::size_t run) const;
  std::string label_of(const std::vector<Value>& key) const;
  double place_of(const Value& x) const;
  FigurePoint point_of(const std::vector<const FigureSample*>& members);
  void find_corpora(const std::vector<FigureSample>& samples);
  std::string corpus_of(const std::vector<std::size_t>& rows) const;
  std::vector<FigurePoint> points_of(const std::vector<FigureSample>& samples, bool of_outcome);
  RunTable& runs_;
  Figure& figure_;
  std::vector<const std::vector<Value>*> series_;  // values of every run, for each column; none: there is one series
  std::map<Value, double, ValueOrder> places_;
  std::map<std::size_t, std::string> corpora_;  // of every row, where the figure has a front
  Variation variation_;                         // of the runs behind a point
};

/// Why a column of these runs gives no numbers to draw: it holds text. Empty where it does not.
std::string why_no_numbers(RunTable& runs, const std::string& column, const std::vector<std::size_t>& selected);

/// What is wrong with a description that shows columns of the store against each other; empty: nothing.
std::string problem_of_columns(const FigureDescription& description);

/// A figure of y against x, as a scatter, line or bars show it.
BuiltFigure series_figure(RunTable& runs, const FigureDescription& description,
                          const std::vector<std::size_t>& selected, const SeriesRules& rules);

/// Says below a figure what its numbers are made of, and beside it where they mix runs that `series` or `where` could
/// tell apart.
void describe_variation(Figure& figure, const Variation& variation);

/// A running mean of every series over description.smooth points, fewer at its ends. Spreads over seeds become a band;
/// a single run has none, whose own noise would be taken for that of seeds.
void smooth_series(Figure& figure);

/// Which way the best of a column's numbers lies.
Better better_of(const std::string& column);

}  // namespace xlm
