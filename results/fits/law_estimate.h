// A fitted power law with what it cannot be sure of: intervals by bootstrap, and a prediction of the largest runs from
// the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "results/fits/power_law.h"

namespace xlm {

struct LawInterval {
  double low = 0;
  double high = 0;
};

/// A standard normal number that follows from its place (Box and Muller).
double normal_at(std::uint64_t seed, std::uint64_t draw, std::uint64_t index);

/// By how much an interval of draws is too narrow because their spread was estimated with so many degrees of freedom:
/// the quantile of Student's t over that of the normal distribution.
double student_stretch(double freedom, double level);

/// Between the quantiles of `drawn`, whose distances from `estimate` are multiplied by `stretch`.
LawInterval stretched_interval(std::vector<double> drawn, double estimate, double level, double stretch);

/// Values within this factor are one size.
inline constexpr double kOneSize = 1.01;

/// The different sizes among values above 0, ascending; each is the least of the values that are one with it.
std::vector<double> different_sizes(std::vector<double> values);

/// Losses of runs. Runs of one setting differ only in the seed.
struct LossPoints {
  std::vector<std::vector<double>> x;  // [run][column], above 0
  std::vector<double> loss;            // [run], above 0
  std::vector<std::size_t> setting;    // [run], counted from 0 without gaps

  std::size_t size() const { return loss.size(); }
  std::size_t count_settings() const;
  std::vector<double> column(std::size_t number) const;
};

struct EstimateOptions {
  double delta = 1e-3;        // of Huber's loss, in log loss
  std::int64_t draws = 1000;  // of the bootstrap
  double level = 0.95;        // of intervals
  std::uint64_t seed = 1;
};

struct Prediction {
  double loss = 0;
  LawInterval law;  // of the law
  LawInterval run;  // of one more run, with the spread of runs around the law
};

/// The value of a law's column at which a run reaches some loss.
struct Needed {
  double x = 0;
  LawInterval interval;  // up to kNever
};
/// No size reaches the loss.
inline constexpr double kNever = 1e300;

/// A prediction of runs that the fit did not see.
struct LeftOut {
  std::vector<double> x;
  double loss = 0;  // made: the geometric mean of its runs
  Prediction predicted;
};

class LawEstimate {
 public:
  /// Fits and draws. `points` must have more settings than the law has parameters.
  LawEstimate(const LossPoints& points, const EstimateOptions& options);

  const FoundLaw& found() const { return found_; }
  /// Of each of PowerLaw::parameters().
  std::vector<LawInterval> intervals() const;
  /// Of a number that follows from the law.
  LawInterval interval(const std::function<double(const PowerLaw&)>& number) const;
  Prediction predict(const std::vector<double>& x) const;
  /// For a law of one column.
  Needed needed_for(double loss) const;
  /// ln loss less ln law, of each run.
  const std::vector<double>& residuals() const { return residuals_; }
  /// The spread of settings around the law, in log loss: their root mean square, for the parameters that were fitted.
  double spread() const { return spread_; }
  /// By which power of the product of a run's sizes its noise grows; 0: the runs do not show that it does.
  double growth() const { return growth_; }

 private:
  void find_growth(const LossPoints& points);
  void find_spread(const LossPoints& points);
  double noise_at(const std::vector<double>& x) const;
  void draw(const LossPoints& points, const PowerLawFitter& fitter);
  LawInterval interval_of(std::vector<double> drawn, double estimate) const;

  EstimateOptions options_;
  FoundLaw found_;
  std::vector<double> residuals_;
  double growth_ = 0;
  double centre_ = 0;                            // mean of ln product of sizes, where the noise is as below
  std::vector<std::vector<double>> deviations_;  // [setting][its runs], from the setting's mean residual
  double spread_ = 0;
  double stretch_ = 1;              // Student's t over the normal's: few settings make the spread itself unsure
  std::vector<PowerLaw> drawn_;     // laws of the bootstrap
  std::vector<double> run_errors_;  // an error of a further run for each of them
};

/// How many different sizes each column needs: with three, a law of one column passes through all of them.
constexpr std::size_t least_sizes(std::size_t columns) { return columns == 1 ? 4 : 3; }

/// The runs whose columns have the largest product, predicted by a fit of all others. Nothing if these have too few
/// settings, or too few sizes of a column.
std::optional<LeftOut> leave_largest_out(const LossPoints& points, const EstimateOptions& options);

}  // namespace xlm
