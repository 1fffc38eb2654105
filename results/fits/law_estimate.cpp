// Bootstrap of power laws.
//
// A draw gives each setting a new error, normal with the spread of settings around the fitted law, and the deviations
// that the seeds of a random setting had from their mean; then the law is fitted again. Resampling the residuals as
// they are would be too sure: Huber's loss is nearly absolute, so a fit passes through as many settings as it has
// parameters, and draws would repeat these zeros.
#include "results/fits/law_estimate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <boost/math/distributions/normal.hpp>

#include "base/random.h"
#include "results/judgement/student.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// Whether a parameter goes over orders of magnitude: then its logarithm has the interval.
bool is_scale(std::size_t parameter) { return parameter % 2 == 1; }

double product_of(const std::vector<double>& x) {
  double logs = 0;
  for (const double value : x) logs += std::log(value);
  return logs;
}

}  // namespace

double normal_at(std::uint64_t seed, std::uint64_t draw, std::uint64_t index) {
  const double radius = 1 - random_unit(random_bits(seed, draw, 2 * index));  // above 0
  const double angle = 2 * std::numbers::pi * random_unit(random_bits(seed, draw, 2 * index + 1));
  return std::sqrt(-2 * std::log(radius)) * std::cos(angle);
}

double student_stretch(double freedom, double level) {
  const double tail = (1 - level) / 2;
  const boost::math::normal normal;
  return student_factor(level, freedom) / boost::math::quantile(boost::math::complement(normal, tail));
}

LawInterval stretched_interval(std::vector<double> drawn, double estimate, double level, double stretch) {
  std::ranges::sort(drawn);
  const double tail = (1 - level) / 2;
  const double low = estimate - stretch * (estimate - quantile(drawn, tail));
  const double high = estimate + stretch * (quantile(drawn, 1 - tail) - estimate);
  return {std::min(low, estimate), std::max(high, estimate)};
}

std::vector<double> different_sizes(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<double> sizes;
  for (const double value : values) {
    if (sizes.empty() || value > sizes.back() * kOneSize) sizes.push_back(value);
  }
  return sizes;
}

std::size_t LossPoints::count_settings() const { return setting.empty() ? 0 : *std::ranges::max_element(setting) + 1; }

std::vector<double> LossPoints::column(std::size_t number) const {
  std::vector<double> values;
  for (const std::vector<double>& of_run : x) values.push_back(of_run[number]);
  return values;
}

LawEstimate::LawEstimate(const LossPoints& points, const EstimateOptions& options) : options_(options) {
  const PowerLawFitter fitter(points.x, options.delta);
  found_ = fitter.fit(points.loss);
  for (std::size_t i = 0; i < points.size(); ++i) {
    residuals_.push_back(std::log(points.loss[i]) - std::log(found_.law.at(points.x[i])));
  }
  find_growth(points);
  find_spread(points);
  draw(points, fitter);
}

/// Least squares of ln residual² by ln product. Whatever the noise, ln of a squared normal number varies by π²/2, so
/// the error of the slope is known. Nothing grows unless the slope is above 0 by a one-sided test of 10 %.
void LawEstimate::find_growth(const LossPoints& points) {
  constexpr double kNone = 1e-12;  // of log loss: a residual that is rounding
  std::vector<double> sizes;
  std::vector<double> squares;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::abs(residuals_[i]) < kNone) continue;
    sizes.push_back(product_of(points.x[i]));
    squares.push_back(2 * std::log(std::abs(residuals_[i])));
  }
  if (sizes.empty()) return;
  centre_ = mean(sizes);
  const double level = mean(squares);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    xx += (sizes[i] - centre_) * (sizes[i] - centre_);
    xy += (sizes[i] - centre_) * (squares[i] - level);
  }
  constexpr double kOfNormal = 1.281552;  // its quantile of 90 %
  const double error = std::numbers::pi / std::sqrt(2 * xx);
  if (xx > 0 && xy / xx > kOfNormal * error) growth_ = xy / xx / 2;
}

double LawEstimate::noise_at(const std::vector<double>& x) const {
  return std::exp(growth_ * (product_of(x) - centre_));
}

void LawEstimate::find_spread(const LossPoints& points) {
  const std::size_t settings = points.count_settings();
  deviations_.assign(settings, {});
  for (std::size_t i = 0; i < points.size(); ++i) {
    deviations_[points.setting[i]].push_back(residuals_[i] / noise_at(points.x[i]));
  }
  double squares = 0;
  for (std::vector<double>& of_setting : deviations_) {
    const double centre = mean(of_setting);
    squares += centre * centre;
    for (double& residual : of_setting) residual -= centre;
  }
  const auto freedom = static_cast<double>(settings - count_parameters(points.x.front().size()));
  spread_ = std::sqrt(squares / freedom);
  stretch_ = student_stretch(freedom, options_.level);
}

void LawEstimate::draw(const LossPoints& points, const PowerLawFitter& fitter) {
  const std::size_t settings = deviations_.size();
  std::vector<double> fitted(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) fitted[i] = found_.law.at(points.x[i]);
  for (std::int64_t number = 0; number < options_.draws; ++number) {
    const auto stream = static_cast<std::uint64_t>(number);
    const auto pick = [&](std::uint64_t index) {  // the deviations of a random setting
      const std::uint64_t bits = random_bits(options_.seed + 1, stream, index);
      return static_cast<std::size_t>(random_below(static_cast<std::int64_t>(settings), bits));
    };
    std::vector<double> losses(points.size());
    std::vector<std::size_t> seen(settings, 0);  // runs of each setting so far
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t setting = points.setting[i];
      const std::vector<double>& deviations = deviations_[pick(setting)];
      const double deviation = deviations[seen[setting]++ % deviations.size()];
      const double error = spread_ * normal_at(options_.seed, stream, setting) + deviation;
      losses[i] = fitted[i] * std::exp(noise_at(points.x[i]) * error);
    }
    drawn_.push_back(fitter.fit_from(losses, found_.law).law);
    const std::vector<double>& deviations = deviations_[pick(settings)];
    const std::uint64_t which = random_bits(options_.seed + 2, stream, 0);
    run_errors_.push_back(
        spread_ * normal_at(options_.seed, stream, settings) +
        deviations[static_cast<std::size_t>(random_below(static_cast<std::int64_t>(deviations.size()), which))]);
  }
}

LawInterval LawEstimate::interval_of(std::vector<double> drawn, double estimate) const {
  return stretched_interval(std::move(drawn), estimate, options_.level, stretch_);
}

std::vector<LawInterval> LawEstimate::intervals() const {
  const std::vector<double> estimates = found_.law.parameters();
  std::vector<LawInterval> all;
  for (std::size_t p = 0; p < estimates.size(); ++p) {
    LawInterval interval = this->interval([&](const PowerLaw& law) {
      const double value = law.parameters()[p];
      return is_scale(p) ? std::log(value) : value;
    });
    if (is_scale(p)) {
      interval = {std::exp(interval.low), std::exp(interval.high)};
    } else {
      interval.low = std::max(interval.low, 0.0);  // neither a loss nor an exponent is below
    }
    all.push_back(interval);
  }
  return all;
}

LawInterval LawEstimate::interval(const std::function<double(const PowerLaw&)>& number) const {
  std::vector<double> drawn;
  for (const PowerLaw& law : drawn_) drawn.push_back(number(law));
  return interval_of(std::move(drawn), number(found_.law));
}

Prediction LawEstimate::predict(const std::vector<double>& x) const {
  Prediction prediction{.loss = found_.law.at(x)};
  std::vector<double> laws;
  std::vector<double> runs;
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    laws.push_back(std::log(drawn_[i].at(x)));
    runs.push_back(laws.back() + noise_at(x) * run_errors_[i]);
  }
  const auto from_logs = [&](std::vector<double> logs) {
    const LawInterval interval = interval_of(std::move(logs), std::log(prediction.loss));
    return LawInterval{std::exp(interval.low), std::exp(interval.high)};
  };
  prediction.law = from_logs(std::move(laws));
  prediction.run = from_logs(std::move(runs));
  return prediction;
}

Needed LawEstimate::needed_for(double loss) const {
  const auto log_needed = [](const PowerLaw& law, double reached) {
    const PowerTerm& term = law.terms.front();
    const double never = std::log(kNever);
    return reached > law.floor ? std::min(never, std::log(term.scale / (reached - law.floor)) / term.exponent) : never;
  };
  const double estimate = log_needed(found_.law, loss);
  const double noise = noise_at({std::exp(estimate)});
  std::vector<double> drawn;
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    drawn.push_back(log_needed(drawn_[i], loss * std::exp(-noise * run_errors_[i])));
  }
  const LawInterval logs = interval_of(std::move(drawn), estimate);
  return {std::exp(estimate), {std::exp(logs.low), std::min(kNever, std::exp(logs.high))}};
}

std::optional<LeftOut> leave_largest_out(const LossPoints& points, const EstimateOptions& options) {
  constexpr double kEqualProducts = 1e-6;  // of ln products: seeds of one setting need not have spent exactly the same
  double largest = product_of(points.x.front());
  for (const std::vector<double>& x : points.x) largest = std::max(largest, product_of(x));
  std::vector<bool> left_out(points.count_settings());  // whole settings
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (product_of(points.x[i]) > largest - kEqualProducts) left_out[points.setting[i]] = true;
  }
  LossPoints others;
  LeftOut result;
  std::vector<double> logs;
  std::vector<std::size_t> numbers(left_out.size());  // of the settings that are kept
  std::size_t kept = 0;
  for (std::size_t setting = 0; setting < left_out.size(); ++setting) {
    if (!left_out[setting]) numbers[setting] = kept++;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (left_out[points.setting[i]]) {
      if (product_of(points.x[i]) > largest - kEqualProducts) result.x = points.x[i];
      logs.push_back(std::log(points.loss[i]));
      continue;
    }
    others.x.push_back(points.x[i]);
    others.loss.push_back(points.loss[i]);
    others.setting.push_back(numbers[points.setting[i]]);
  }
  const std::size_t columns = points.x.front().size();
  if (kept <= count_parameters(columns)) return std::nullopt;
  for (std::size_t k = 0; k < columns; ++k) {
    if (different_sizes(others.column(k)).size() < least_sizes(columns)) return std::nullopt;
  }
  result.loss = std::exp(mean(logs));
  result.predicted = LawEstimate(others, options).predict(result.x);
  return result;
}

}  // namespace xlm
