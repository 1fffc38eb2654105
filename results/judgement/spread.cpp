// Spreads.
#include "results/judgement/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include "results/store/statistics.h"

namespace xlm {
namespace {

/// Distances from the median, without the one that follows from the others: that of the number in the middle is zero,
/// and both in the middle of an even number are equal.
std::vector<double> distances_from_median(std::vector<double> values) {
  std::ranges::sort(values);
  const double centre = median(values);
  const std::size_t half = values.size() / 2;
  std::vector<double> distances;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != half) distances.push_back(std::abs(values[i] - centre));
  }
  if (values.size() % 2 == 0 && half > 0) distances[half - 1] *= std::sqrt(2.0);
  return distances;
}

/// x with ψ'(x) = y > 0, by Newton's method from above 1/ψ' (Smyth 2004).
double inverse_trigamma(double y) {
  constexpr int kSteps = 50;
  constexpr double kAccuracy = 1e-10;
  double x = 0.5 + 1 / y;
  for (int i = 0; i < kSteps; ++i) {
    const double now = boost::math::trigamma(x);
    const double step = now * (1 - now / y) / boost::math::polygamma(2, x);
    x += step;
    if (std::abs(step) < kAccuracy * x) break;
  }
  return x;
}

}  // namespace

std::optional<SpreadEstimate> spread_of(const std::vector<double>& values) {
  const std::optional<double> deviation = sample_deviation(values);
  if (!deviation) return std::nullopt;
  return SpreadEstimate{*deviation, static_cast<double>(values.size()) - 1};
}

bool is_multiple(double value, double parts) {
  constexpr double kMaxError = 1e-3;      // of a step
  constexpr double kOfFloats = 0x1p-24;   // half of their last bit
  constexpr double kOfDoubles = 0x1p-33;  // differences of numbers have lost bits
  const bool is_float =
      std::abs(value) <= std::numeric_limits<float>::max() && static_cast<double>(static_cast<float>(value)) == value;
  const double of_binary_fractions = std::abs(value) * parts * (is_float ? kOfFloats : kOfDoubles);
  return std::abs(value * parts - std::round(value * parts)) <= std::min(kMaxError, of_binary_fractions);
}

int zeros_behind_point(double value) {
  return value == 0 ? 0 : std::max(0, -1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
}

bool has_many_digits(double value) {
  constexpr int kFewDecimals = 5;
  return !is_multiple(value, std::pow(10.0, kFewDecimals + zeros_behind_point(value)));
}

double step_of(const std::vector<double>& values) {
  constexpr int kMaxDigits = 9;
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return 0;
  for (int digits = 0; digits <= kMaxDigits + zeros_behind_point(largest); ++digits) {
    const double parts = std::pow(10.0, digits);
    if (std::ranges::all_of(values, [&](double value) { return is_multiple(value, parts); })) return 1 / parts;
  }
  return 0;
}

std::optional<SpreadEstimate> spread_of_rounded(const std::vector<double>& values, double step) {
  std::optional<SpreadEstimate> spread = spread_of(values);
  if (spread) spread->deviation = std::max(spread->deviation, step / std::sqrt(12.0));
  return spread && spread->deviation > 0 ? spread : std::nullopt;
}

double shift_of_rounded(const std::vector<double>& values, double step) {
  return sample_deviation(values).value_or(0) < step / 2 ? step / 2 : 0;
}

std::optional<SpreadEstimate> SpreadSum::pooled() const {
  if (freedom == 0) return std::nullopt;
  return SpreadEstimate{std::sqrt(squares / freedom), freedom};
}

std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples) {
  SpreadSum sum;
  for (const SpreadEstimate& sample : samples) sum = sum.with(sample);
  return sum.pooled();
}

namespace {

/// A sum of squares and its degrees of freedom.
struct SquareSum {
  double squares = 0;
  double freedom = 0;

  void add(double more_squares, double more_freedom) {
    squares += more_squares;
    freedom += more_freedom;
  }
  /// Half the variance of such a sum of independent normal numbers.
  double variance() const { return freedom > 0 ? squares * squares / freedom : 0; }
};

/// Adds what samples of the same seeds vary by: what a seed does to all of them, and the rest.
void add_parts(const std::vector<const SeededSample*>& samples, SquareSum& common, SquareSum& rest) {
  const std::size_t seeds = samples.front()->numbers.size();
  const auto count = static_cast<double>(samples.size());
  const double freedom = static_cast<double>(seeds) - 1;
  std::vector<double> means(seeds);  // over samples, of what is left without the mean of each
  double squares = 0;
  for (const SeededSample* sample : samples) {
    const double centre = mean(sample->numbers);
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      const double left = sample->numbers[seed] - centre;
      means[seed] += left / count;
      squares += left * left;
    }
  }
  if (samples.size() == 1) return rest.add(squares, freedom);
  double between = 0;
  for (const double one : means) between += count * one * one;
  common.add(between, freedom);
  rest.add(std::max(0.0, squares - between), freedom * (count - 1));
}

}  // namespace

double independent_share(const std::vector<SeededSample>& samples) {
  std::map<std::vector<std::string>, std::vector<const SeededSample*>> by_seeds;
  for (const SeededSample& sample : samples) {
    if (sample.numbers.size() > 1) by_seeds[sample.seeds].push_back(&sample);
  }
  SquareSum common;
  SquareSum rest;
  for (const auto& [seeds, same] : by_seeds) add_parts(same, common, rest);
  const double squares = common.squares + rest.squares;
  const double variance = common.variance() + rest.variance();
  return variance > 0 ? std::min(1.0, squares * squares / variance / (common.freedom + rest.freedom)) : 1;
}

std::optional<double> equal_spread_test(const std::vector<std::vector<double>>& samples) {
  if (samples.size() < 2) return std::nullopt;
  std::vector<std::vector<double>> distances;
  std::vector<double> all;
  for (const std::vector<double>& sample : samples) {
    distances.push_back(distances_from_median(sample));
    all.insert(all.end(), distances.back().begin(), distances.back().end());
  }
  const auto between_freedom = static_cast<double>(samples.size()) - 1;
  const double within_freedom = static_cast<double>(all.size()) - static_cast<double>(samples.size());
  if (within_freedom <= 0) return std::nullopt;
  const double centre_of_all = mean(all);
  double between = 0;
  double within = 0;
  for (const std::vector<double>& sample : distances) {
    const double centre = mean(sample);
    between += static_cast<double>(sample.size()) * std::pow(centre - centre_of_all, 2);
    for (const double distance : sample) within += std::pow(distance - centre, 2);
  }
  if (within == 0) return between > 0 ? 0 : 1;
  const boost::math::fisher_f distribution(between_freedom, within_freedom);
  const double ratio = between / between_freedom / (within / within_freedom);
  return boost::math::cdf(boost::math::complement(distribution, ratio));
}

std::optional<SpreadEstimate> common_prior(const std::vector<SpreadEstimate>& samples) {
  if (samples.size() < 2) return std::nullopt;
  std::vector<double> logarithms;  // of variances, each less what its degrees of freedom let expect
  double by_chance = 0;            // how much they vary if all variances are equal
  for (const SpreadEstimate& sample : samples) {
    const double half = sample.freedom / 2;
    logarithms.push_back(2 * std::log(sample.deviation) - boost::math::digamma(half) + std::log(half));
    by_chance += boost::math::trigamma(half) / static_cast<double>(samples.size());
  }
  const double beyond_chance = std::pow(*sample_deviation(logarithms), 2) - by_chance;
  if (beyond_chance <= 0)
    return SpreadEstimate{pooled_spread(samples)->deviation, std::numeric_limits<double>::infinity()};
  const double half = inverse_trigamma(beyond_chance);
  return SpreadEstimate{std::exp((mean(logarithms) + boost::math::digamma(half) - std::log(half)) / 2), 2 * half};
}

SpreadEstimate moderated(const std::optional<SpreadEstimate>& own, const SpreadEstimate& prior,
                         const SpreadEstimate& pooled) {
  SpreadEstimate both = prior;
  if (own && std::isfinite(prior.freedom)) both = *pooled_spread({*own, prior});
  both.freedom = std::min(both.freedom, pooled.freedom);
  return both;
}

double same_variance_p(const SpreadEstimate& a, const SpreadEstimate& b) {
  if (a.deviation == 0 || b.deviation == 0) return a.deviation == b.deviation ? 1 : 0;
  const boost::math::fisher_f distribution(a.freedom, b.freedom);
  const double ratio = std::pow(a.deviation / b.deviation, 2);
  const double above = boost::math::cdf(boost::math::complement(distribution, ratio));
  return 2 * std::min(above, 1 - above);
}

bool is_noisier(const SpreadEstimate& sample, const SpreadEstimate& others, std::size_t tests) {
  return sample.deviation > others.deviation &&
         same_variance_p(sample, others) < 2 * kUnequalSpreads / static_cast<double>(tests);
}

SpreadEstimate SpreadPool::Group::spread() const {
  std::vector<SpreadEstimate> spreads;
  double freedom = 0;
  for (const std::vector<double>& cell : cells) {
    spreads.push_back(*spread_of(cell));
    freedom = std::max(freedom, spreads.back().freedom);
  }
  return {pooled_spread(spreads)->deviation, freedom};
}

void SpreadPool::add(const SeededSample& cell, const std::vector<std::string>& runs) {
  const std::vector<double>& by_seed = cell.numbers;
  fewest_ = fewest_ == 0 ? by_seed.size() : std::min(fewest_, by_seed.size());
  numbers_.insert(numbers_.end(), by_seed.begin(), by_seed.end());
  const std::optional<SpreadEstimate> spread = spread_of(by_seed);
  if (!spread || spread->deviation == 0) return;
  Group joined{runs, {by_seed}, cell.seeds};
  std::set<std::size_t> sharing;
  for (const std::string& run : runs) {
    if (const auto of = group_of_run_.find(run); of != group_of_run_.end()) sharing.insert(of->second);
  }
  for (const std::size_t number : sharing) {
    const Group& group = groups_.at(number);
    joined.runs.insert(joined.runs.end(), group.runs.begin(), group.runs.end());
    joined.cells.insert(joined.cells.end(), group.cells.begin(), group.cells.end());
    groups_.erase(number);
  }
  const std::size_t number = ++newest_group_;
  for (const std::string& run : joined.runs) group_of_run_[run] = number;
  groups_.emplace(number, std::move(joined));
}

void SpreadPool::add_up() {
  spreads_.clear();
  groups_with_.clear();
  for (const auto& [number, group] : groups_) {
    for (const std::vector<double>& cell : group.cells) groups_with_[cell].insert(spreads_.size());
    spreads_.push_back(group.spread());
  }
  before_.assign(spreads_.size() + 1, {});
  behind_ = before_;
  for (std::size_t i = 0; i < spreads_.size(); ++i) before_[i + 1] = before_[i].with(spreads_[i]);
  for (std::size_t i = spreads_.size(); i > 0; --i) behind_[i - 1] = behind_[i].with(spreads_[i - 1]);
}

void SpreadPool::settle() {
  add_up();
  std::vector<std::vector<double>> samples;
  std::vector<SeededSample> seeded;
  for (const auto& [number, group] : groups_) {
    samples.push_back(group.cells.front());
    seeded.push_back({group.seeds, group.cells.front()});
  }
  found_.shared = shared_by_all();
  if (found_.shared) found_.shared->freedom *= independent_share(seeded);
  found_.test_p = equal_spread_test(samples);
  prior_ = common_prior(spreads_);
  if (!found_.shared || source_ == SpreadSource::kOwn) return;
  if (source_ == SpreadSource::kPooled) {
    found_.sharing = SpreadSharing::kPooled;
  } else if (fewest_ < kEnoughSeeds) {
    const bool is_fair = !prior_ || found_.test_p.value_or(1) >= kUnequalSpreads;
    found_.sharing = is_fair ? SpreadSharing::kPooled : SpreadSharing::kModerated;
  }
  found_.is_assumed = found_.sharing == SpreadSharing::kPooled && fewest_ <= kTooFewForNoise && groups_.size() > 1;
}

std::optional<SpreadEstimate> SpreadPool::of(const std::vector<double>& by_seed) const {
  if (!is_shared(by_seed)) return spread_of_rounded(by_seed, step());
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  if (found_.sharing != SpreadSharing::kModerated || (own && own->deviation == 0)) return found_.shared;
  return moderated(own, *prior_, *found_.shared);
}

std::optional<SpreadEstimate> SpreadPool::shared_by_others(const std::vector<double>& by_seed) const {
  const auto own = groups_with_.find(by_seed);
  if (own == groups_with_.end()) return before_.back().pooled();
  SpreadSum others = before_[*own->second.begin()];
  for (std::size_t i = *own->second.begin(); i < *own->second.rbegin(); ++i) {
    if (!own->second.contains(i)) others = others.with(spreads_[i]);
  }
  return others.with(behind_[*own->second.rbegin() + 1]).pooled();
}

std::optional<SpreadEstimate> SpreadPool::shared_by_all() {
  std::vector<SpreadEstimate> sharing;
  found_.cells = 0;
  std::size_t place = 0;
  for (const auto& [number, group] : groups_) {
    const SpreadEstimate& spread = spreads_[place++];
    const std::optional<SpreadEstimate> others = shared_by_others(group.cells.front());
    if (source_ == SpreadSource::kAuto && others && is_noisier(spread, *others, groups_.size())) continue;
    sharing.push_back(spread);
    found_.cells += group.cells.size();
  }
  return pooled_spread(sharing);
}

bool SpreadPool::is_noisy(const std::vector<double>& by_seed) const {
  if (source_ != SpreadSource::kAuto || found_.sharing == SpreadSharing::kNone || by_seed.size() >= kEnoughSeeds)
    return false;
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  const std::optional<SpreadEstimate> others = shared_by_others(by_seed);
  return own && others && is_noisier(*own, *others);
}

bool SpreadPool::is_shared(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  if (!found_.shared) return false;
  if (own && own->deviation == 0) return true;  // how much it varies is not known
  if (found_.sharing == SpreadSharing::kNone) return false;
  const bool is_enough = source_ == SpreadSource::kAuto && by_seed.size() >= kEnoughSeeds;
  return !is_enough && !is_noisy(by_seed);
}

bool SpreadPool::changes(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  return own ? own->deviation > 0 : !groups_.empty();
}

}  // namespace xlm
