// What a table file says: which runs make which cell, and how the cell is printed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"
#include "results/quantities/number_format.h"
#include "results/store/run_table.h"
#include "results/store/selection.h"
#include "results/store/statistics.h"
#include "results/tables/printed_comparison.h"

namespace xlm {

/// How a cell's number is related to that of another row: v − b, v / b, v / b − 1.
enum class RowRelation { kDifference, kRatio, kChange };
inline constexpr std::array<std::string_view, 3> kRowRelationNames{"difference", "ratio", "change"};

/// How the runs of a cell become what is printed in it.
struct CellOptions {
  std::string value;
  std::string against;  // label of a row; empty: the number itself is shown
  RowRelation as = RowRelation::kDifference;
  Aggregate aggregate = Aggregate::kMean;
  Spread spread = Spread::kNone;
  std::string over = "seed";
  Selection choose;  // which of the runs' settings is shown; read apart from `visit`
  std::int64_t digits = -1;
  double margin = -1;
  double tolerance = -1;
  NumberFormat format = NumberFormat::kNumber;
  Better better = Better::kLower;
  bool best = false;
  bool has_direction = false;  // `better` is given, or the quantity's own
  bool has_digits = false;     // `digits` or `format` is given

  void visit(OptionVisitor& v) {
    v.field({.name = "value", .help = "column of the store that is printed: test.bpc, params, …"}, value);
    v.field({.name = "against", .help = "label of the row to which the cells are related; empty: none"}, against);
    v.field({.name = "as", .help = "how: difference v − b, ratio v / b, or change v / b − 1"}, as, kRowRelationNames);
    v.field({.name = "aggregate", .help = "how several runs become one number"}, aggregate, kAggregateNames);
    v.field({.name = "spread", .help = "sd: the sample standard deviation behind the mean, from two runs on"}, spread,
            kSpreadNames);
    v.field({.name = "over", .help = "what the runs of a cell are expected to differ in"}, over);
    v.field({.name = "digits", .help = "digits behind the point", .min = 0, .max = 12}, digits);
    v.field({.name = "format", .help = "count prints 38M, percent the hundredfold of a share"}, format,
            kNumberFormatNames);
    v.field({.name = "better", .help = "which way is better, for `best` and stars"}, better, kBetterNames);
    v.field({.name = "best", .help = "true: mark the best cells of the column"}, best);
    v.field({.name = "margin",
             .help = "a difference from the printed value that does not matter, in units of the value",
             .min = 0},
            margin);
    v.field({.name = "tolerance",
             .help = "the same of a cost that follows from the configuration, relative to the printed value",
             .min = 0,
             .open_min = true},
            tolerance);
  }
};

/// A spread as a cell prints it, with as many digits as it takes to be no zero.
std::string cell_spread_text(double spread, const CellOptions& options);

/// A row or a column: a label, and the runs that belong to it.
struct TableEntry {
  std::string label;
  std::vector<Filter> where;
  bool printed_only = false;  // of a row: others' work, of which only the paper's values are shown
};

struct TableColumn : TableEntry {
  CellOptions cells;
  bool says_what = true;  // its label tells what the cells show; a key's value, or "on PG-19", does not
  std::string behind{};   // of a value of `also`: the label of the column that it belongs to
};

/// What is done about several stars at once, each of which may be there by chance.
enum class Correction { kHolm, kNone };
inline constexpr std::array<std::string_view, 2> kCorrectionNames{"holm", "none"};

/// Stars mark cells that are better than all of some other rows by a paired t-test over the seeds.
struct Stars {
  std::vector<std::string> against;  // labels of rows; empty: no stars
  std::string value;                 // column of the store that is tested; only cells that print it get stars
  double p = 0.05;
  Correction correct = Correction::kHolm;
};

struct TableDescription {
  std::string title;
  std::string name;                  // for --name
  std::string corner;                // above the row labels; the keys of rows and columns where it is not given
  std::vector<Filter> where;         // holds for every cell
  std::string row_key;               // rows are the values of this column …
  std::vector<TableEntry> rows;      // … or given one by one
  std::string column_key;            // likewise
  std::vector<TableColumn> columns;  // where column_key is set: one, the pattern of all
  std::vector<TableColumn> also;     // further values after each column's own
  Stars stars;
  std::map<std::string, std::map<std::string, std::string>> printed;  // row label, column label: the paper's text
  std::vector<std::string> printed_rows;                              // labels in the order of the file
  std::set<std::pair<std::string, std::string>> printed_plainly;      // row, column: of those, numbers without quotes
  std::vector<std::string> notes;                                     // of the file's own, below the table
  VerdictRules verdicts;
  std::shared_ptr<PaperRuns> paper;  // with which runs are compared; null: the file describes none
  std::string place;                 // file:line, for messages
};

const std::vector<std::string>& table_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
TableDescription read_table_description(const Yaml& description);

}  // namespace xlm
