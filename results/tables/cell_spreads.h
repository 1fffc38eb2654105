// How much the seeds of a table's cells differ: each cell's own spread, or one that several cells share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/store/statistics.h"
#include "results/tables/verdict.h"

namespace xlm {

/// The cells of a table that show one value.
class CellSpreads {
 public:
  explicit CellSpreads(SpreadSource source) : source_(source) {}

  /// A cell's numbers, one for each seed, and the runs behind them.
  void add(const std::vector<double>& by_seed, const std::vector<std::string>& runs);

  /// Decides between own and shared spreads; all cells have been added. With kAuto cells share one if some have fewer
  /// than kEnoughSeeds seeds and Bartlett's test at 5 % does not speak against equal variances.
  void settle();

  /// Of a cell with these numbers. A cell of several seeds that are all the same does not vary: its spread is 0, and it
  /// is left out of what others share. Nothing if nothing is known of it.
  std::optional<SpreadEstimate> of(const std::vector<double>& by_seed) const;

  /// Whether `of` gives the shared spread.
  bool is_pooled(const std::vector<double>& by_seed) const;

  /// Whether seeds may change a cell's number: its own seeds differ, or it has one and those of another cell do.
  bool changes(const std::vector<double>& by_seed) const;

  /// For a note.
  ValueSpread summary(const std::string& value) const;

  static constexpr std::size_t kEnoughSeeds = 5;

 private:
  /// Cells with runs in common: evaluations of the same runs are no further evidence of how much seeds differ.
  struct Group {
    std::vector<std::string> runs;
    std::vector<SpreadEstimate> cells;
  };

  SpreadSource source_;
  std::vector<Group> groups_;
  std::size_t fewest_ = 0;   // seeds of a cell
  std::size_t varying_ = 0;  // cells
  std::optional<SpreadEstimate> shared_;
  std::optional<double> test_p_;
  bool pooled_ = false;
};

}  // namespace xlm
