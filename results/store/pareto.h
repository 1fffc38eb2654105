// Pareto fronts: which points no other point beats in every column, and the hypervolume that they dominate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/store/run_table.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"

namespace xlm {

/// A point, with the runs whose numbers (or mean) it is.
struct ParetoPoint {
  std::vector<double> values;  // one per column
  std::vector<std::string> runs;
  std::string group;                        // value of the grouping columns; empty: not grouped
  std::vector<std::string> group_values{};  // the same, one by one
  std::vector<std::string> differ_in{};     // keys other than the seed in which its runs differ
};

struct ParetoFront {
  std::vector<ParetoPoint> front;      // by the first column, best first
  std::vector<ParetoPoint> dominated;  // likewise
  std::vector<double> reference;
  std::optional<double> hypervolume;  // of two columns
};

/// Splits points into front and dominated ones. Each has n ≥ 2 finite values, one for each column. Smaller is better,
/// except in columns where `maximize` (n entries) is true. Points that are equal in all columns become one, with the
/// runs of both. Of two columns, the hypervolume is the area between the front and `reference`; where that is empty, it
/// is the worst value of each column. For two columns and N points this takes O(N log N).
ParetoFront pareto_front(std::vector<ParetoPoint> points, const std::vector<bool>& maximize,
                         std::vector<double> reference = {});

/// What `xlm pareto` asks.
struct ParetoQuery {
  std::vector<std::string> columns;  // x, y and further ones
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

/// {"x", "y", "front": [{"x", "y", "runs"}], "dominated", "hypervolume", "reference"}; columns after the second are in
/// "z", a list. "notes" lists sentences about chosen settings and bad runs. Grouped points have "group" and
/// "differ_in" too, and "mean_over" says what all of them are means over. Of several corpora, "fronts" lists what is
/// said of each, with its name under "corpus".
Json to_json(const ParetoQuery& query, const ParetoResult& result);

}  // namespace xlm
