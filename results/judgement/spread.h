// How much single runs differ: the spread of one sample, one that several samples share, and whether sharing is fair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Whether a number is a multiple of 1 / `parts`, as far as a double, or the float that it was, can say.
bool is_multiple(double value, double parts);

/// The zeros between the point and the first digit of a number below 1: 3 for 0.00012.
int zeros_behind_point(double value);

/// Whether a number has so many digits that no other one equals it by chance.
bool has_many_digits(double value);

/// The step of the digits in which numbers are given, such as 0.01: the largest power of ten, at most 1, that divides
/// all of them; 0 if they have more than nine digits behind the point and the zeros of the largest, or if all are 0.
double step_of(const std::vector<double>& values);

/// The standard deviation of numbers that were rounded to a step: at least that of rounding alone, step / √12, so that
/// equal numbers are no certainty. Nothing for fewer than two, or if they are equal and no step is known.
std::optional<SpreadEstimate> spread_of_rounded(const std::vector<double>& values, double step);

/// By how much rounding to a step may shift the mean of numbers. It is half a step where all of them lie within one;
/// where they vary by more, the errors of rounding average out.
double shift_of_rounded(const std::vector<double>& values, double step);

struct SpreadSum {
  double squares = 0;  // Σ νᵢ·sᵢ²
  double freedom = 0;  // Σ νᵢ

  SpreadSum with(const SpreadEstimate& one) const {
    return {squares + one.freedom * one.deviation * one.deviation, freedom + one.freedom};
  }
  SpreadSum with(const SpreadSum& more) const { return {squares + more.squares, freedom + more.freedom}; }
  std::optional<SpreadEstimate> pooled() const;
};

/// The common standard deviation of independent samples, each with its own mean: √(Σ νᵢ·sᵢ² / Σ νᵢ). Nothing for no
/// sample.
std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples);

/// Numbers of one sample, and the seeds that they are of, in the same order.
struct SeededSample {
  std::vector<std::string> seeds;
  std::vector<double> numbers;
};

/// The share of the degrees of freedom of their pooled spread that samples are worth: 1 if they are independent, less
/// if a seed that is common to several moves all of them, as the same data in the same order does. By
/// Satterthwaite's approximation, from the mean squares between seeds and of the rest.
double independent_share(const std::vector<SeededSample>& samples);

/// p of Levene's test that independent samples have one and the same variance: the analysis of variance of distances
/// from each sample's median (Brown and Forsythe 1974), without the one that follows from the others (Noguchi and Gel
/// 2010). Long tails do not deceive it: of three normal numbers a sample it rejects 2 % of equals, of t with four
/// degrees of freedom 5 %, where Bartlett's test rejects 20 %. Nothing for fewer than two samples, or if none has three
/// numbers: both distances of two are equal.
std::optional<double> equal_spread_test(const std::vector<std::vector<double>>& samples);

/// What the variances of samples are drawn from: a deviation, and the degrees of freedom that it is worth next to a
/// sample's own, infinite if the samples vary no more than chance explains (Smyth 2004). Nothing for fewer than two.
std::optional<SpreadEstimate> common_prior(const std::vector<SpreadEstimate>& samples);

/// A sample's own spread and what others suggest, by their degrees of freedom (Smyth's moderated variance). Without an
/// own spread it is the prior. `pooled`: of all samples; nothing is known better than that.
SpreadEstimate moderated(const std::optional<SpreadEstimate>& own, const SpreadEstimate& prior,
                         const SpreadEstimate& pooled);

/// p of the two-sided F-test that two samples have one variance. 1 if none of both varies, 0 if one does.
double same_variance_p(const SpreadEstimate& a, const SpreadEstimate& b);

inline constexpr double kUnequalSpreads = 0.05;  // p of a test below which spreads are not taken as one

/// Whether a sample varies more than others, by the one-sided F-test at 5 %, or at 5 % for so many tests together.
bool is_noisier(const SpreadEstimate& sample, const SpreadEstimate& others, std::size_t tests = 1);

/// So many seeds do not show whether a setting is noisier than others.
inline constexpr std::int64_t kTooFewForNoise = 3;

enum class SpreadSource { kAuto, kPooled, kOwn };
inline constexpr std::array<std::string_view, 3> kSpreadSourceNames{"auto", "pooled", "own"};

/// What cells share.
enum class SpreadSharing {
  kNone,       // nothing: each has its own
  kPooled,     // one spread
  kModerated,  // their own, moderated by those of the others: the test speaks against one spread
};

/// How the spread of one value's cells was found, for a note.
struct ValueSpread {
  std::string value;  // column of the store
  SpreadSharing sharing = SpreadSharing::kNone;
  bool is_assumed = false;               // a cell that takes the pooled one has three seeds or fewer, which do not show
                                         // whether it is noisier
  std::size_t cells = 0;                 // whose seeds went in
  std::optional<SpreadEstimate> shared;  // pooled over them
  std::optional<double> test_p;          // of the test of equal variances; nothing: it cannot be made
};

/// Cells that show one value: each with its own spread, or one that several cells share.
class SpreadPool {
 public:
  SpreadPool(std::string value, SpreadSource source) : source_(source), found_{.value = std::move(value)} {}

  void add(const SeededSample& cell, const std::vector<std::string>& runs);

  /// Decides between own and shared spreads; all cells have been added. With kAuto cells of fewer than kEnoughSeeds
  /// seeds share a pooled one, or moderated ones if the test at 5 % speaks against equal variances.
  void settle();

  /// Of a cell with these numbers. A cell of several seeds that are all the same is left out of what others share, and
  /// takes theirs: equal numbers do not show how much seeds differ. Nothing if nothing is known of it.
  std::optional<SpreadEstimate> of(const std::vector<double>& by_seed) const;

  /// Whether `of` gives what cells share.
  bool is_shared(const std::vector<double>& by_seed) const;

  /// Whether a cell that would share a spread keeps its own, because it varies more than the others do.
  bool is_noisy(const std::vector<double>& by_seed) const;

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
    std::vector<std::vector<double>> cells;
    std::vector<std::string> seeds;  // of the first cell

    /// The mean variance of its cells, with the degrees of freedom of one.
    SpreadEstimate spread() const;
  };

  /// What the cells share without the group of this one.
  std::optional<SpreadEstimate> shared_by_others(const std::vector<double>& by_seed) const;

  /// Pooled over all groups, but with kAuto not over one that is surely noisier than the others: it would widen all
  /// their intervals.
  std::optional<SpreadEstimate> shared_by_all();

  /// Fills what shared_by_others looks up, so that it need not go through all groups for each cell.
  void add_up();

  SpreadSource source_;
  std::map<std::size_t, Group> groups_;  // by number, growing
  std::size_t newest_group_ = 0;
  std::unordered_map<std::string, std::size_t> group_of_run_;
  std::vector<SpreadEstimate> spreads_;                               // of the groups, in their order
  std::map<std::vector<double>, std::set<std::size_t>> groups_with_;  // places of groups, by their cells
  std::vector<SpreadSum> before_{SpreadSum{}};                        // of the groups before a place
  std::vector<SpreadSum> behind_;                                     // of those from it on
  std::vector<double> numbers_;                                       // of all cells
  std::size_t fewest_ = 0;                                            // seeds of a cell
  ValueSpread found_;
  std::optional<SpreadEstimate> prior_;
};

}  // namespace xlm
