// Pareto fronts of two columns: which points no other point beats in both, and the area that they dominate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/store/run_table.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"

namespace xlm {

/// A point, with the runs whose numbers (or mean) it is.
struct ParetoPoint {
  std::vector<double> values;  // one per column: x and y
  std::vector<std::string> runs;
  std::string group;                        // value of the grouping columns; empty: not grouped
  std::vector<std::string> group_values{};  // the same, one by one
  std::vector<std::string> differ_in{};     // keys other than the seed in which its runs differ
};

struct ParetoFront {
  std::vector<ParetoPoint> front;      // by the first column, best first
  std::vector<ParetoPoint> dominated;  // likewise
  std::vector<double> reference;
  double hypervolume = 0;
};

/// Splits points into front and dominated ones. Each has two finite values. Smaller is better, except in columns where
/// `maximize` is true. Points that are equal in both columns become one, with the runs of both. The hypervolume is the
/// area between the front and `reference`; where that is empty, it is the worst value of each column.
ParetoFront pareto_front(std::vector<ParetoPoint> points, const std::vector<bool>& maximize,
                         std::vector<double> reference = {});

struct ParetoQuery {
  std::vector<std::string> columns;  // x and y
  std::vector<bool> maximize;        // one per column
  std::vector<std::string>
      group_by;  // columns; runs that agree in all of them are averaged; empty: every run is a point
  std::vector<Filter> where;
  std::vector<double> reference;  // one per column, or empty
  Selection choose{};             // of which settings the points are
};

/// The front of the runs of one corpus: numbers that were measured on different text are not compared.
struct CorpusFront {
  std::string corpus;  // as corpora_of names it
  ParetoFront front;
};

struct ParetoResult {
  std::vector<CorpusFront> fronts;  // by the corpus; none: no run has all of the columns
  std::int64_t incomplete = 0;      // selected runs without a number in some column
  std::string mean_over;            // what the points are means over: "3 seeds"; empty: each is of one run
  bool mixed = false;               // of runs that differ in more than the seed
  std::vector<std::string> notes;   // sentences about the settings that were chosen, and about bad runs
};

/// The rows that fulfil the conditions of a query, before settings are chosen; bad runs are left out.
ShownRows shown_rows_of(RunTable& runs, const ParetoQuery& query);

/// One front for each corpus. Throws UsageError for an unknown column.
ParetoResult run_pareto(RunTable& runs, const ParetoQuery& query);

/// {"x", "y", "front": [{"x", "y", "runs"}], "dominated", "hypervolume", "reference"}. "notes" lists sentences about
/// chosen settings and bad runs. Grouped points have "group" and "differ_in" too, and "mean_over" says what all of them
/// are means over. Of several corpora, "fronts" lists what is said of each, with its name under "corpus".
Json to_json(const ParetoQuery& query, const ParetoResult& result);

}  // namespace xlm
