// Spreads.
#include "results/judgement/spread.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>

#include "results/store/statistics.h"

namespace xlm {
namespace {

bool share_a_run(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& run) { return std::find(b.begin(), b.end(), run) != b.end(); });
}

}  // namespace

std::optional<SpreadEstimate> spread_of(const std::vector<double>& values) {
  const std::optional<double> deviation = sample_deviation(values);
  if (!deviation) return std::nullopt;
  return SpreadEstimate{*deviation, static_cast<double>(values.size()) - 1};
}

double step_of(const std::vector<double>& values) {
  constexpr int kMaxDigits = 9;        // behind the point
  constexpr double kTolerance = 1e-6;  // of a step: what binary fractions leave
  if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) return 0;
  for (int digits = 0; digits <= kMaxDigits; ++digits) {
    const double parts = std::pow(10.0, digits);
    const auto is_whole = [&](double value) {
      return std::abs(value * parts - std::round(value * parts)) < kTolerance;
    };
    if (std::all_of(values.begin(), values.end(), is_whole)) return 1 / parts;
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

std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples) {
  double squares = 0;
  double freedom = 0;
  for (const SpreadEstimate& sample : samples) {
    squares += sample.freedom * sample.deviation * sample.deviation;
    freedom += sample.freedom;
  }
  if (freedom == 0) return std::nullopt;
  return SpreadEstimate{std::sqrt(squares / freedom), freedom};
}

std::optional<double> equal_spread_test(const std::vector<SpreadEstimate>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const auto constant =
      std::count_if(samples.begin(), samples.end(), [](const SpreadEstimate& sample) { return sample.deviation == 0; });
  if (constant > 0) return static_cast<std::size_t>(constant) == samples.size() ? 1.0 : 0.0;
  double logarithms = 0;  // Σ νᵢ·ln sᵢ²
  double inverses = 0;    // Σ 1/νᵢ
  for (const SpreadEstimate& sample : samples) {
    logarithms += sample.freedom * 2 * std::log(sample.deviation);
    inverses += 1 / sample.freedom;
  }
  const SpreadEstimate common = *pooled_spread(samples);
  const double between = static_cast<double>(samples.size()) - 1;
  const double correction = 1 + (inverses - 1 / common.freedom) / (3 * between);
  const double statistic = (common.freedom * 2 * std::log(common.deviation) - logarithms) / correction;
  const boost::math::chi_squared distribution(between);
  return boost::math::cdf(boost::math::complement(distribution, std::max(0.0, statistic)));
}

double same_variance_p(const SpreadEstimate& a, const SpreadEstimate& b) {
  if (a.deviation == 0 || b.deviation == 0) return a.deviation == b.deviation ? 1 : 0;
  const boost::math::fisher_f distribution(a.freedom, b.freedom);
  const double ratio = std::pow(a.deviation / b.deviation, 2);
  const double above = boost::math::cdf(boost::math::complement(distribution, ratio));
  return 2 * std::min(above, 1 - above);
}

void SpreadPool::add(const std::vector<double>& by_seed, const std::vector<std::string>& runs) {
  fewest_ = fewest_ == 0 ? by_seed.size() : std::min(fewest_, by_seed.size());
  numbers_.insert(numbers_.end(), by_seed.begin(), by_seed.end());
  const std::optional<SpreadEstimate> spread = spread_of(by_seed);
  if (!spread || spread->deviation == 0) return;
  ++found_.cells;
  Group joined{runs, {*spread}};
  std::vector<Group> others;
  for (Group& group : groups_) {
    if (!share_a_run(group.runs, runs)) {
      others.push_back(std::move(group));
      continue;
    }
    joined.runs.insert(joined.runs.end(), group.runs.begin(), group.runs.end());
    joined.cells.insert(joined.cells.end(), group.cells.begin(), group.cells.end());
  }
  others.push_back(std::move(joined));
  groups_ = std::move(others);
}

void SpreadPool::settle() {
  std::vector<SpreadEstimate> independent;
  for (const Group& group : groups_) {
    SpreadEstimate one = *pooled_spread(group.cells);
    one.freedom = 0;
    for (const SpreadEstimate& cell : group.cells) one.freedom = std::max(one.freedom, cell.freedom);
    independent.push_back(one);
  }
  found_.shared = pooled_spread(independent);
  found_.test_p = equal_spread_test(independent);
  found_.pooled = source_ == SpreadSource::kPooled || (source_ == SpreadSource::kAuto && fewest_ < kEnoughSeeds &&
                                                       found_.test_p.value_or(1) >= kUnequalSpreads);
}

std::optional<SpreadEstimate> SpreadPool::of(const std::vector<double>& by_seed) const {
  return is_pooled(by_seed) ? found_.shared : spread_of_rounded(by_seed, step());
}

bool SpreadPool::is_pooled(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  const bool is_unknown = own && own->deviation == 0;
  return found_.shared && (found_.pooled || is_unknown);
}

bool SpreadPool::changes(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  return own ? own->deviation > 0 : !groups_.empty();
}

}  // namespace xlm
