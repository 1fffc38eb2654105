// How many of the values that a paper prints ours agree with.
#include "results/tables/printed_counts.h"

#include <algorithm>
#include <numeric>

namespace xlm {
namespace {

std::string_view outcome_of(const TableCell& cell) {
  if (cell.compared) return name_of(cell.compared->verdict);
  return cell.value ? "no verdict" : "missing";
}

}  // namespace

std::int64_t PrintedCounts::total() const { return std::accumulate(of.begin(), of.end(), std::int64_t{0}); }

PrintedCounts& PrintedCounts::operator+=(const PrintedCounts& other) {
  for (std::size_t i = 0; i < of.size(); ++i) of.at(i) += other.of.at(i);
  return *this;
}

PrintedCounts count_printed(const Table& table) {
  PrintedCounts counts;
  for (const TableRow& row : table.rows) {
    for (const TableCell& cell : row.cells) {
      if (cell.printed.empty() || cell.missing == kPrintedOnly)
        continue;  // other people's have none of ours beside them
      const auto* const outcome = std::find(kPrintedOutcomes.begin(), kPrintedOutcomes.end(), outcome_of(cell));
      ++counts.of.at(static_cast<std::size_t>(outcome - kPrintedOutcomes.begin()));
    }
  }
  return counts;
}

}  // namespace xlm
