// Fits power laws.
#include "results/fits/power_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "results/fits/minimum.h"

namespace xlm {
namespace {

constexpr double kLeastExponent = 0.001;
constexpr double kMaxExponent = 5;
constexpr double kLogRoom = 14;           // how far ln E and ln A' may lie below the logarithm of the least loss
constexpr double kNoFloor = 0.001;        // share of the least loss below which E is taken for 0
constexpr double kNearLimit = 1e-6;       // an exponent so close to a limit has reached it
constexpr double kHighestFloor = 0.9999;  // of E, as a share of the least loss

/// Huber's loss of an error, and its derivative, both divided by δ².
struct Huber {
  double value = 0;
  double slope = 0;
};
Huber huber(double error, double delta) {
  const double size = std::abs(error) / delta;
  if (size <= 1) return {0.5 * size * size, error / (delta * delta)};
  return {size - 0.5, error > 0 ? 1 / delta : -1 / delta};
}

std::vector<double> logarithms_of(const std::vector<double>& losses) {
  std::vector<double> logs(losses.size());
  std::transform(losses.begin(), losses.end(), logs.begin(), [](double loss) { return std::log(loss); });
  return logs;
}

}  // namespace

double PowerLaw::at(const std::vector<double>& x) const {
  double loss = floor;
  for (std::size_t k = 0; k < terms.size(); ++k) loss += terms[k].scale * std::pow(x[k], -terms[k].exponent);
  return loss;
}

std::vector<double> PowerLaw::parameters() const {
  std::vector<double> all{floor};
  for (const PowerTerm& term : terms) {
    all.push_back(term.scale);
    all.push_back(term.exponent);
  }
  return all;
}

PowerLawFitter::PowerLawFitter(const std::vector<std::vector<double>>& x, double delta) : logs_(x), delta_(delta) {
  centres_.assign(x.front().size(), 0.0);
  for (std::vector<double>& point : logs_) {
    for (std::size_t k = 0; k < point.size(); ++k) {
      point[k] = std::log(point[k]);
      centres_[k] += point[k] / static_cast<double>(x.size());
    }
  }
  for (std::vector<double>& point : logs_) {
    for (std::size_t k = 0; k < point.size(); ++k) point[k] -= centres_[k];
  }
}

PowerLawFitter::Bounds PowerLawFitter::bounds_for(const std::vector<double>& logs) const {
  const auto [least, most] = std::minmax_element(logs.begin(), logs.end());
  Bounds bounds{{*least - kLogRoom}, {*least + std::log(kHighestFloor)}};
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    bounds.low.insert(bounds.low.end(), {*least - kLogRoom, kLeastExponent});
    bounds.high.insert(bounds.high.end(), {*most, kMaxExponent});
  }
  return bounds;
}

/// Shares of the least loss as E, and all combinations of exponents. What E leaves of the mean loss is shared equally.
std::vector<std::vector<double>> PowerLawFitter::starts_for(const std::vector<double>& logs) const {
  constexpr std::array<double, 4> kFloors{0.05, 0.4, 0.75, 0.95};
  constexpr std::array<double, 4> kExponents{0.1, 0.3, 0.7, 1.3};
  const double least = std::exp(*std::ranges::min_element(logs));
  double average = 0;
  for (const double log : logs) average += std::exp(log) / static_cast<double>(logs.size());
  std::size_t combinations = 1;
  for (std::size_t k = 0; k < centres_.size(); ++k) combinations *= kExponents.size();
  std::vector<std::vector<double>> starts;
  for (const double share : kFloors) {
    const double rest = std::max(average - share * least, 1e-9 * least) / static_cast<double>(centres_.size());
    for (std::size_t combination = 0; combination < combinations; ++combination) {
      std::vector<double> start{std::log(share * least)};
      std::size_t left = combination;
      for (std::size_t k = 0; k < centres_.size(); ++k) {
        start.insert(start.end(), {std::log(rest), kExponents.at(left % kExponents.size())});
        left /= kExponents.size();
      }
      starts.push_back(std::move(start));
    }
  }
  return starts;
}

/// The law's logarithm is that of a sum of exponentials, so neither it nor its gradient can overflow.
double PowerLawFitter::misfit(const std::vector<double>& at, const std::vector<double>& logs, double* gradient) const {
  if (gradient != nullptr) std::fill(gradient, gradient + at.size(), 0.0);
  const std::size_t columns = centres_.size();
  std::vector<double> parts(columns + 1);
  double sum = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    parts[0] = at[0];
    for (std::size_t k = 0; k < columns; ++k) parts[k + 1] = at[1 + 2 * k] - at[2 + 2 * k] * logs_[i][k];
    const double largest = *std::ranges::max_element(parts);
    double total = 0;
    for (double& part : parts) {
      part = std::exp(part - largest);
      total += part;
    }
    const Huber loss = huber(largest + std::log(total) - logs[i], delta_);
    sum += loss.value;
    if (gradient == nullptr) continue;
    gradient[0] += loss.slope * parts[0] / total;
    for (std::size_t k = 0; k < columns; ++k) {
      const double share = loss.slope * parts[k + 1] / total;
      gradient[1 + 2 * k] += share;
      gradient[2 + 2 * k] -= share * logs_[i][k];
    }
  }
  return sum;
}

PowerLaw PowerLawFitter::law_at(const std::vector<double>& at) const {
  PowerLaw law{.floor = std::exp(at[0]), .terms = {}};
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    const double exponent = at[2 + 2 * k];
    law.terms.push_back({std::exp(at[1 + 2 * k] + exponent * centres_[k]), exponent});
  }
  return law;
}

FoundLaw PowerLawFitter::descend(const std::vector<double>& start, const std::vector<double>& logs) const {
  const Bounds bounds = bounds_for(logs);
  const auto function = [&](const std::vector<double>& at, double* gradient) { return misfit(at, logs, gradient); };
  const Minimum minimum = minimise(function, start, bounds.low, bounds.high);
  FoundLaw found{.law = law_at(minimum.at), .misfit = minimum.value};
  const double least = std::exp(*std::ranges::min_element(logs));
  found.floor_is_zero = found.law.floor < kNoFloor * least;
  found.at_limit = std::ranges::any_of(found.law.terms, [](const PowerTerm& term) {
    return term.exponent < kLeastExponent + kNearLimit || term.exponent > kMaxExponent - kNearLimit;
  });
  return found;
}

FoundLaw PowerLawFitter::fit(const std::vector<double>& losses) const {
  const std::vector<double> logs = logarithms_of(losses);
  FoundLaw best;
  best.misfit = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& start : starts_for(logs)) {
    FoundLaw found = descend(start, logs);
    if (found.misfit < best.misfit) best = std::move(found);
  }
  return best;
}

FoundLaw PowerLawFitter::fit_from(const std::vector<double>& losses, const PowerLaw& start) const {
  std::vector<double> at{std::log(start.floor)};
  for (std::size_t k = 0; k < centres_.size(); ++k) {
    const PowerTerm& term = start.terms[k];
    at.insert(at.end(), {std::log(term.scale) - term.exponent * centres_[k], term.exponent});
  }
  return descend(at, logarithms_of(losses));
}

}  // namespace xlm
