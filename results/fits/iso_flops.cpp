// Best sizes by parabolas.
#include "results/fits/iso_flops.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr double kOneBudget = 1.1;      // budgets within this factor are one
constexpr std::size_t kLeastSizes = 3;  // that determine a parabola

std::size_t count_sizes(std::vector<double> log_sizes) {
  for (double& size : log_sizes) size = std::exp(size);
  return different_sizes(std::move(log_sizes)).size();
}

/// Least squares with the polynomials 1, z and z² − b·z − c, which are orthogonal over the points: z is ln N less its
/// mean. Needs three sizes. Nothing if the parabola does not open upwards.
std::optional<LossParabola> parabola_of(const std::vector<double>& log_sizes, const std::vector<double>& losses) {
  const auto count = static_cast<double>(log_sizes.size());
  const double middle = mean(log_sizes);
  double squares = 0;
  double cubes = 0;
  for (const double log_size : log_sizes) {
    const double z = log_size - middle;
    squares += z * z;
    cubes += z * z * z;
  }
  const double b = cubes / squares;
  const double c = squares / count;
  double slope = 0;
  double bend = 0;
  double norm = 0;
  for (std::size_t i = 0; i < log_sizes.size(); ++i) {
    const double z = log_sizes[i] - middle;
    const double second = z * z - b * z - c;
    slope += losses[i] * z / squares;
    bend += losses[i] * second;
    norm += second * second;
  }
  bend /= norm;
  if (!(bend > 0)) return std::nullopt;
  const double lowest = (bend * b - slope) / (2 * bend);
  const double least = mean(losses) + slope * lowest + bend * (lowest * lowest - b * lowest - c);
  return LossParabola{middle + lowest, least, bend};
}

/// One setting: the means over its seeds.
struct SettingMean {
  std::size_t setting = 0;
  double log_size = 0;
  double log_compute = 0;
  double loss = 0;
};

std::vector<SettingMean> means_of_settings(const LossPoints& points) {
  std::vector<SettingMean> means(points.count_settings());
  std::vector<double> counts(means.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    SettingMean& of_setting = means[points.setting[i]];
    of_setting.log_size += std::log(points.x[i][0]);
    of_setting.log_compute += std::log(points.x[i][1]);
    of_setting.loss += points.loss[i];
    ++counts[points.setting[i]];
  }
  for (std::size_t setting = 0; setting < means.size(); ++setting) {
    means[setting].setting = setting;
    means[setting].log_size /= counts[setting];
    means[setting].log_compute /= counts[setting];
    means[setting].loss /= counts[setting];
  }
  return means;
}

}  // namespace

double IsoFlopBudget::off_centre() const {
  const auto [least, most] = std::minmax_element(log_sizes.begin(), log_sizes.end());
  return (parabola->centre - (*least + *most) / 2) / ((*most - *least) / 2);
}

std::vector<IsoFlopBudget> find_iso_flops(const LossPoints& points) {
  std::vector<SettingMean> means = means_of_settings(points);
  std::ranges::sort(means, [](const SettingMean& a, const SettingMean& b) { return a.log_compute < b.log_compute; });
  std::vector<IsoFlopBudget> budgets;
  std::vector<double> log_computes;  // of the budget so far
  double first = 0;
  const auto finish = [&] {
    if (budgets.empty()) return;
    IsoFlopBudget& budget = budgets.back();
    budget.compute = std::exp(mean(log_computes));
    budget.sizes = count_sizes(budget.log_sizes);
    if (budget.sizes >= kLeastSizes) budget.parabola = parabola_of(budget.log_sizes, budget.losses);
  };
  for (const SettingMean& one : means) {
    if (budgets.empty() || one.log_compute > first + std::log(kOneBudget)) {
      finish();
      budgets.emplace_back();
      log_computes.clear();
      first = one.log_compute;
    }
    budgets.back().settings.push_back(one.setting);
    budgets.back().log_sizes.push_back(one.log_size);
    budgets.back().losses.push_back(one.loss);
    log_computes.push_back(one.log_compute);
  }
  finish();
  return budgets;
}

IsoFlopEstimate::IsoFlopEstimate(std::vector<IsoFlopBudget> budgets, const EstimateOptions& options)
    : options_(options), budgets_(std::move(budgets)) {
  for (const IsoFlopBudget& budget : budgets_) log_computes_.push_back(std::log(budget.compute));
  centre_ = mean(log_computes_);
  for (double& log_compute : log_computes_) log_compute -= centre_;
  std::vector<double> log_sizes;
  double squares = 0;
  double freedom = 0;
  for (const IsoFlopBudget& budget : budgets_) {
    log_sizes.push_back(budget.parabola->centre);
    for (std::size_t i = 0; i < budget.losses.size(); ++i) {
      const double residual = budget.losses[i] - budget.parabola->at(budget.log_sizes[i]);
      squares += residual * residual;
    }
    freedom += static_cast<double>(budget.losses.size()) - static_cast<double>(kLeastSizes);
  }
  growth_ = growth_of(log_sizes);
  spread_ = std::sqrt(squares / freedom);
  stretch_ = student_stretch(freedom, options_.level);
  draw();
}

IsoFlopEstimate::Growth IsoFlopEstimate::growth_of(const std::vector<double>& log_sizes) const {
  Growth growth{.height = mean(log_sizes)};
  double squares = 0;
  for (std::size_t i = 0; i < log_sizes.size(); ++i) {
    growth.slope += log_sizes[i] * log_computes_[i];
    squares += log_computes_[i] * log_computes_[i];
  }
  growth.slope /= squares;
  return growth;
}

void IsoFlopEstimate::draw() {
  drawn_sizes_.assign(budgets_.size(), {});
  for (std::int64_t number = 0; number < options_.draws; ++number) {
    std::vector<double> log_sizes;
    std::uint64_t index = 0;
    for (const IsoFlopBudget& budget : budgets_) {
      std::vector<double> losses;
      for (const double log_size : budget.log_sizes) {
        const double error = normal_at(options_.seed, static_cast<std::uint64_t>(number), index++);
        losses.push_back(budget.parabola->at(log_size) + spread_ * error);
      }
      if (const auto parabola = parabola_of(budget.log_sizes, losses)) log_sizes.push_back(parabola->centre);
    }
    if (log_sizes.size() < budgets_.size()) {
      ++failed_;
      continue;
    }
    for (std::size_t i = 0; i < log_sizes.size(); ++i) drawn_sizes_[i].push_back(log_sizes[i]);
    drawn_.push_back(growth_of(log_sizes));
  }
}

BestSize IsoFlopEstimate::size_of(std::vector<double> drawn, double log_size) const {
  if (drawn.empty()) return {std::exp(log_size), std::nullopt};
  const LawInterval logs = stretched_interval(std::move(drawn), log_size, options_.level, stretch_);
  return {std::exp(log_size), LawInterval{std::exp(logs.low), std::exp(logs.high)}};
}

std::vector<BestSize> IsoFlopEstimate::best_sizes() const {
  std::vector<BestSize> sizes;
  for (std::size_t i = 0; i < budgets_.size(); ++i) {
    sizes.push_back(size_of(drawn_sizes_[i], budgets_[i].parabola->centre));
  }
  return sizes;
}

std::optional<LawInterval> IsoFlopEstimate::exponent_interval() const {
  if (drawn_.empty()) return std::nullopt;
  std::vector<double> slopes;
  for (const Growth& growth : drawn_) slopes.push_back(growth.slope);
  return stretched_interval(std::move(slopes), growth_.slope, options_.level, stretch_);
}

BestSize IsoFlopEstimate::predict(double compute) const {
  const double along = std::log(compute) - centre_;
  std::vector<double> drawn;
  for (const Growth& growth : drawn_) drawn.push_back(growth.height + growth.slope * along);
  return size_of(std::move(drawn), growth_.height + growth_.slope * along);
}

}  // namespace xlm
