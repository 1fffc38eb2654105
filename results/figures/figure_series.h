// Computes series of points: numbers of runs become points with a spread, and points become series with places on x.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/figure_kind.h"
#include "results/store/run_table.h"
#include "results/store/variation.h"

namespace xlm {

/// A number of one run that becomes part of a point.
struct FigureSample {
  std::size_t run = 0;
  Value x;
  double y = 0;
  double tokens = 0;  // of the text that was measured; 0: nothing says it
};

struct SeriesRules {
  bool joined = false;        // by lines
  bool side_by_side = false;  // places on x stand side by side, even if they are numbers
};

/// Puts samples into the series of one figure. Its description defines the series.
class SeriesBuilder {
 public:
  /// Throws UsageError if the store does not have a column of the series.
  SeriesBuilder(RunTable& runs, Figure& figure);

  /// Adds the next place on x, with its name.
  void add_place(const Value& x, std::string name);

  /// Names the places on x if they are text or side by side. Sets ticks if x has few values.
  void place(const std::vector<FigureSample>& samples, bool side_by_side);

  /// Adds the series, and a caption about their points. `of_outcome`: x is a result of the runs, so it differs between
  /// the seeds of a setting, and a point is all seeds of one setting.
  void add(const std::vector<FigureSample>& samples, bool joined, bool of_outcome);

 private:
  /// The values that tell a run's series apart: those in the series' columns.
  std::vector<Value> key_of(std::size_t run) const;
  std::string label_of(const std::vector<Value>& key, bool rename) const;
  double place_of(const Value& x) const;
  void tell_parts_apart(const std::vector<FigureSample>& samples);
  FigurePoint point_of(const std::vector<const FigureSample*>& members);
  void find_corpora(const std::vector<FigureSample>& samples);
  std::string corpus_of(const std::vector<std::size_t>& rows) const;
  std::vector<FigurePoint> points_of(const std::vector<FigureSample>& samples, bool of_outcome);
  RunTable& runs_;
  Figure& figure_;
  std::vector<const std::vector<Value>*> series_;  // values of every run, for each column; empty: one series
  std::map<Value, double, ValueOrder> places_;
  std::set<std::vector<Value>> of_parts_;       // keys of series whose runs measured several parts of a text
  std::map<std::size_t, std::string> corpora_;  // of every row, if the figure has a front
  Variation variation_;                         // of the runs of a point
};

/// The text for a value of a column. A number needs its column's name, too.
std::string series_label(const std::string& column, const Value& value);

/// Why a column of these runs cannot be drawn: it holds text. Empty if it can.
std::string why_no_numbers(RunTable& runs, const std::string& column, const std::vector<std::size_t>& selected);

/// What is wrong with a description of columns of the store; empty: nothing.
std::string problem_of_columns(const FigureDescription& description);

/// A figure of y against x for scatter, line and bars.
BuiltFigure series_figure(RunTable& runs, const FigureDescription& description,
                          const std::vector<std::size_t>& selected, const SeriesRules& rules);

/// Adds a part to a figure's caption.
void add_to_caption(Figure& figure, const std::string& part);

/// Describes the figure's numbers in its caption. Adds a note if they combine runs that `series` or `where` could
/// separate.
void describe_variation(Figure& figure, const Variation& variation);

}  // namespace xlm
