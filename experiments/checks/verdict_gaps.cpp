// Printed values of a table that can get no verdict.
#include "experiments/checks/verdict_gaps.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "results/tables/printed_number.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

/// "3 printed values (a/dev, b/dev, c/dev)".
std::string counted_values(const std::vector<std::string>& cells) {
  return fmt::format("{} ({})", counted(cells.size(), "printed value"), some_listed(cells));
}

bool has_margin(const TableDescription& description) {
  const auto is_stated = [](const TableColumn& column) {
    return column.cells.margin >= 0 || column.cells.tolerance >= 0;
  };
  return std::any_of(description.columns.begin(), description.columns.end(), is_stated) ||
         std::any_of(description.also.begin(), description.also.end(), is_stated);
}

}  // namespace

std::vector<VerdictGap> verdict_gaps(const TableDescription& description, const Table& table) {
  std::vector<std::string> without_spread;
  std::vector<std::string> not_compared;
  std::vector<std::string> too_coarse;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = table.rows[r].cells[c];
      if (prints_nothing(cell.printed) || !cell.value) continue;
      const std::string name = cell_name(table, r, c);
      if (!cell.compared) {
        not_compared.push_back(name);
        continue;
      }
      const CellOptions& options = table.columns[c].cells;
      if (cell.compared->verdict == Verdict::kUndecided && !cell.compared->half_width) without_spread.push_back(name);
      const double rounding = printed_number(cell.printed, options.format)->rounding;
      if (options.margin >= 0 && rounding >= options.margin) too_coarse.push_back(name);
    }
  }
  std::vector<VerdictGap> gaps;
  if (!without_spread.empty()) {
    gaps.push_back({counted_values(without_spread) + " can get no verdict: no cell has two seeds",
                    "sweep more seeds in one cell at least, such as `seed: [1, 2, 3]`: others share its spread"});
  }
  if (!not_compared.empty()) {
    gaps.push_back({counted_values(not_compared) + " can get no verdict: the printed text is no number, or ours is no "
                                                   "plain mean",
                    "print a number, or show the mean itself, without 'against' and another 'aggregate'"});
  }
  if (!too_coarse.empty()) {
    gaps.push_back({counted_values(too_coarse) + " can never agree: the margin is not larger than the rounding",
                    "state a larger margin, or none"});
  }
  if (has_margin(description) && description.notes.empty()) {
    gaps.push_back({"a margin or a tolerance is stated without a reason", "give the reason under 'notes'"});
  }
  return gaps;
}

}  // namespace xlm
