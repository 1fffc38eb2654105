// How much single runs differ: the spread of one sample, one that several samples share, and whether sharing is fair.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlm {

/// A standard deviation and how well it is known.
struct SpreadEstimate {
  double deviation = 0;
  double freedom = 0;  // degrees of freedom: n − 1 of one sample, Σ (nᵢ − 1) of several pooled
};

/// The standard deviation of one sample; nothing for fewer than two values.
std::optional<SpreadEstimate> spread_of(const std::vector<double>& values);

/// The step of the digits in which numbers are given, such as 0.01: the largest power of ten, at most 1, that divides
/// all of them; 0 if they have more than nine digits behind the point, or if all are 0.
double step_of(const std::vector<double>& values);

/// The standard deviation of numbers that were rounded to a step: at least that of rounding alone, step / √12, so that
/// equal numbers are no certainty. Nothing for fewer than two, or if they are equal and no step is known.
std::optional<SpreadEstimate> spread_of_rounded(const std::vector<double>& values, double step);

/// By how much rounding to a step may shift the mean of numbers. It is half a step where all of them lie within one;
/// where they vary by more, the errors of rounding average out.
double shift_of_rounded(const std::vector<double>& values, double step);

/// The common standard deviation of independent samples, each with its own mean: √(Σ νᵢ·sᵢ² / Σ νᵢ). Nothing for no
/// sample.
std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples);

/// p of Bartlett's test that independent samples have one and the same variance (Bartlett 1937); nothing for fewer than
/// two. 0 if some vary and others do not; 1 if none varies. Levene's test and that of Brown and Forsythe would be safer
/// against long tails, but say nothing about samples as small as ours: all absolute deviations of two values from their
/// centre are equal, so that nothing varies within a sample. Student's t, for which the variances are wanted, takes
/// errors as normal anyway.
std::optional<double> equal_spread_test(const std::vector<SpreadEstimate>& samples);

/// p of the two-sided F-test that two samples have one variance. 1 if none of both varies, 0 if one does.
double same_variance_p(const SpreadEstimate& a, const SpreadEstimate& b);

inline constexpr double kUnequalSpreads = 0.05;  // p of either test below which spreads are not taken as one

/// From which seeds the spread of a cell is taken.
enum class SpreadSource { kAuto, kPooled, kOwn };
inline constexpr std::array<std::string_view, 3> kSpreadSourceNames{"auto", "pooled", "own"};

/// How the spread of one value's cells was found, for a note.
struct ValueSpread {
  std::string value;  // column of the store
  bool pooled = false;
  std::size_t cells = 0;                 // whose seeds went in
  std::optional<SpreadEstimate> shared;  // pooled over them
  std::optional<double> test_p;          // of the test of equal variances; nothing: it cannot be made
};

/// Cells that show one value: each with its own spread, or one that several cells share.
class SpreadPool {
 public:
  SpreadPool(std::string value, SpreadSource source) : source_(source), found_{.value = std::move(value)} {}

  /// A cell's numbers, one for each seed, and the runs behind them.
  void add(const std::vector<double>& by_seed, const std::vector<std::string>& runs);

  /// Decides between own and shared spreads; all cells have been added. With kAuto cells share one if some have fewer
  /// than kEnoughSeeds seeds and Bartlett's test at 5 % does not speak against equal variances.
  void settle();

  /// Of a cell with these numbers. A cell of several seeds that are all the same is left out of what others share, and
  /// takes theirs: equal numbers do not show how much seeds differ. Nothing if nothing is known of it.
  std::optional<SpreadEstimate> of(const std::vector<double>& by_seed) const;

  /// Whether `of` gives the shared spread.
  bool is_pooled(const std::vector<double>& by_seed) const;

  /// Whether seeds may change a cell's number: its own seeds differ, or it has one and those of another cell do.
  bool changes(const std::vector<double>& by_seed) const;

  const ValueSpread& found() const { return found_; }

  /// The step of the digits of all cells.
  double step() const { return step_of(numbers_); }

  static constexpr std::size_t kEnoughSeeds = 5;

 private:
  /// Cells with runs in common: evaluations of the same runs are no further evidence of how much seeds differ.
  struct Group {
    std::vector<std::string> runs;
    std::vector<SpreadEstimate> cells;
  };

  SpreadSource source_;
  std::vector<Group> groups_;
  std::vector<double> numbers_;  // of all cells
  std::size_t fewest_ = 0;       // seeds of a cell
  ValueSpread found_;
};

}  // namespace xlm
