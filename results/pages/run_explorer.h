// The explorer of runs: a table of runs that readers filter and sort, and curves of the runs that they choose. This
// file computes what run_explorer.js shows, for a page in a file and for a page that the program serves.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/quantities/quantities.h"
#include "results/store/run_table.h"

namespace xlm {

struct RunQuery {
  std::vector<std::string> where;    // conditions, as --where takes them
  std::vector<std::string> columns;  // shown besides those that are chosen for the runs
  std::string sort;                  // a column, the least first; empty: the newest run first
  bool reverse = false;
  std::size_t limit = 200;
};

struct CurveQuery {
  std::vector<std::string> runs;
  std::string quantity;       // a series ("bpc") or an evaluation during training ("valid.bpc"); unknown: the headline
  std::string axis = "step";  // or tokens, flops, seconds
};

/// Answers questions about the runs of a table, which it reads as it is. Remembers what it found for conditions.
class RunExplorer {
 public:
  explicit RunExplorer(RunTable& runs) : runs_(runs) {}

  /// {"all": runs of the store, "found": those that meet the conditions, "columns": [{"name", "label", "key",
  /// "right"}], "hidden_keys", "note", "rows": [{"id", "cells"}]}. A key is a setting in which the found runs differ. A
  /// cell is a number, text or null, or [number or null, text] if it is shown as a text. Throws UsageError for wrong
  /// conditions and unknown columns.
  Json list(const RunQuery& query);

  /// {"quantities": [name], "quantity", "axes": [name], "axis", "label", "axis_label", "note", "curves": [{"run", "x":
  /// [number], "y": [number]}]}. A run that goes on from another one has its past in its curve. Long curves are
  /// thinned. Throws DataError for an unknown run.
  Json curves(const CurveQuery& query);

  /// The runs that meet conditions, newest first.
  std::vector<std::string> ids(const std::vector<std::string>& where);

  /// {"list", "curves"}: what a page in a file needs of these runs. `curves` has "quantities", "quantity", "note", and
  /// in "of" the curves of each quantity over the steps.
  Json whole(const std::vector<std::string>& ids);

  /// How many runs have curves in a file.
  static constexpr std::size_t kMaxWithCurves = 500;

 private:
  struct Found {
    std::vector<std::size_t> rows;  // newest first
    std::vector<std::string> keys;  // in which they differ
    const Quantity* headline = nullptr;
    std::string note;  // why there are none
  };

  const Found& find(const std::vector<std::string>& where);
  Found describe(std::vector<std::size_t> rows);
  Json list(const Found& found, const RunQuery& query);
  std::vector<std::string> columns_of(const Found& found, const std::vector<std::string>& further);
  Json cell(const Found& found, const std::string& column, std::size_t row);
  Json curves_of(const std::vector<std::size_t>& rows, const std::string& quantity, const std::string& axis,
                 std::size_t most_points);
  std::vector<std::size_t> rows_of(const std::vector<std::string>& ids) const;

  RunTable& runs_;
  std::map<std::vector<std::string>, Found> found_;  // by conditions
};

/// Where run_explorer.js puts the explorer on a page.
std::string explorer_section(const std::string& title);

/// What its curves look like: {"looks": [{"color", "dash"}], "layout"}, for plotly.js.
Json explorer_looks();

}  // namespace xlm
