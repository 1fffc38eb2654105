// The best size for each budget, by parabolas of the loss over ln N of runs with one budget (Hoffmann et al. 2022,
// approach 2), and how it grows with the budget: N = G·C^a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "results/fits/law_estimate.h"

namespace xlm {

/// A parabola that opens upwards.
struct LossParabola {
  double centre = 0;  // ln N of the least loss
  double least = 0;   // that loss
  double curvature = 0;

  double at(double log_size) const { return least + curvature * (log_size - centre) * (log_size - centre); }
};

/// The settings that spent one budget.
struct IsoFlopBudget {
  double compute = 0;                    // geometric mean over its settings
  std::vector<std::size_t> settings;     // as LossPoints numbers them
  std::vector<double> log_sizes;         // ln N of each setting
  std::vector<double> losses;            // of each, the mean over its seeds
  std::size_t sizes = 0;                 // different ones
  std::optional<LossParabola> parabola;  // nullopt: fewer than three sizes, or it opens downwards

  /// How far the best size lies from the middle of ln N, over half of the range: beyond ±1 no run is that large or
  /// small. The parabola must be there.
  double off_centre() const;
};

/// Budgets that differ by less than a tenth are one. `points`: x is {N, C}. In order of compute.
std::vector<IsoFlopBudget> find_iso_flops(const LossPoints& points);

/// A size with its interval; none if each draw of the bootstrap failed.
struct BestSize {
  double size = 0;
  std::optional<LawInterval> interval;
};

class IsoFlopEstimate {
 public:
  /// Each of `budgets`, at least two, must have its parabola, and some of them more than three settings.
  IsoFlopEstimate(std::vector<IsoFlopBudget> budgets, const EstimateOptions& options);

  const std::vector<IsoFlopBudget>& budgets() const { return budgets_; }
  /// Of each budget.
  std::vector<BestSize> best_sizes() const;
  /// a of N = G·C^a.
  double exponent() const { return growth_.slope; }
  /// Nothing if each draw failed.
  std::optional<LawInterval> exponent_interval() const;
  /// The best size for a budget that need not be one of them.
  BestSize predict(double compute) const;
  /// The spread of settings around the parabolas, in units of the loss.
  double spread() const { return spread_; }
  /// Draws of the bootstrap in which a parabola opened downwards; intervals leave them out.
  std::int64_t failed_draws() const { return failed_; }

 private:
  /// ln N = height + slope·(ln C − the mean of the budgets').
  struct Growth {
    double height = 0;
    double slope = 0;
  };

  Growth growth_of(const std::vector<double>& log_sizes) const;
  void draw();
  BestSize size_of(std::vector<double> drawn, double log_size) const;

  EstimateOptions options_;
  std::vector<IsoFlopBudget> budgets_;
  std::vector<double> log_computes_;  // less their mean
  double centre_ = 0;                 // that mean
  Growth growth_;
  double spread_ = 0;
  double stretch_ = 1;
  std::vector<std::vector<double>> drawn_sizes_;  // [budget][draw], ln N
  std::vector<Growth> drawn_;
  std::int64_t failed_ = 0;
};

}  // namespace xlm
