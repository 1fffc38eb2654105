// A paper's table, computed from the store: every cell with its runs, and with a reason where it is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"
#include "results/tables/printed_comparison.h"
#include "results/tables/table_description.h"

namespace xlm {

/// Why a cell of a row that is printed_only has no value: there is none to come.
inline constexpr std::string_view kPrintedOnly = "printed only";

struct TableCell {
  std::optional<double> value;
  std::optional<double> spread;
  std::vector<std::string> runs;       // whose numbers went in
  std::vector<std::size_t> rows;       // the same as rows of the RunTable, where evaluations of a run are told apart
  std::int64_t groups = 0;             // different values of `over` (seeds) among them
  std::vector<std::string> chosen;     // settings that were chosen, as "optimizer.lr=0.01"; empty: none was asked for
  std::vector<std::string> differ_in;  // keys other than `over` in which its runs differ
  bool mixed = false;                  // its runs differ in more than `over`, or not even in that
  bool star = false;
  std::optional<double> p;                    // of the star's test, corrected as the table says; nothing: none was made
  bool ignores_seeds = false;                 // it is of a program that printed one number with all its seeds
  std::string same_as;                        // a row above with the same numbers, seed by seed, of a program, too
  bool best = false;                          // no cell of the column and the corpus prints a better number
  std::string printed;                        // the paper's value; empty: it prints none
  std::string missing;                        // why there is no value; empty: there is one
  std::optional<PrintedComparison> compared;  // with the paper's value, where both are numbers
};

struct TableRow {
  std::string label;
  std::vector<TableCell> cells;  // one per column
};

struct Table {
  std::string title;
  std::string name;
  std::string corner;
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::string shown;               // what the cells show, where the columns do not say it
  std::string best;                // what the marked cells are the best of; empty: none is marked
  std::vector<std::string> notes;  // further footnotes: seeds, missing cells, stars
  VerdictBasis verdicts;           // what the comparisons with printed values rest on
  bool has_printed = false;
};

/// Computes the table from the runs that fulfil `filters` and the table's own conditions; there is nothing to show
/// where neither runs nor the description give it rows and columns. Throws UsageError for a column that the store does
/// not know.
std::variant<Table, NothingToShow> build_table(RunTable& runs, const TableDescription& description,
                                               const std::vector<Filter>& filters);

}  // namespace xlm
