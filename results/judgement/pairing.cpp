// Pairs of seeds.
#include "results/judgement/pairing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/judgement/student.h"
#include "results/run_folder/imported.h"
#include "results/run_folder/run_folder.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

/// The largest number of a run that has not diverged; squares of variances have to be finite.
constexpr double kLargest = 1e70;

/// Whether pairs are compared rather than all seeds as two samples. If some seeds have no partner, that loses them.
/// Four pairs or more may still show more: common seeds must then make the interval much shorter. To take the shorter
/// one of both always, or of fewer pairs, would decide too often: in 7 to 8 % of comparisons of equals instead of 5 %;
/// at 0.7 of the length it is 7 % if four of five seeds are in common, at 0.6 it is 6 %.
bool are_better_in_pairs(const Estimate& of_pairs, std::size_t rest, const Estimate& of_all) {
  constexpr std::int64_t kEnoughPairs = 4;
  constexpr double kMuchShorter = 0.6;
  if (rest == 0) return true;
  const std::optional<double> half_of_all = half_width_of(of_all, kLevel);
  if (!half_of_all) return of_pairs.seeds > 1 || of_all.seeds == 1;
  const std::optional<double> half = half_width_of(of_pairs, kLevel);
  return of_pairs.seeds >= kEnoughPairs && half && *half < kMuchShorter * *half_of_all;
}

}  // namespace

std::vector<double> means_of(const ByGroup& by_group) {
  std::vector<double> values;
  for (const auto& [group, numbers] : by_group) values.push_back(mean(numbers));
  return values;
}

SeededSample seeded_sample(const ByGroup& by_seed) {
  SeededSample sample{.seeds = {}, .numbers = means_of(by_seed)};
  for (const auto& [seed, numbers] : by_seed) sample.seeds.push_back(seed);
  return sample;
}

std::string SeedValues::without_number_text() const {
  std::vector<std::string> parts;
  for (const auto& [status, ids] : without_number) parts.push_back(fmt::format("{} {}", ids.size(), status));
  return join(parts, ", ");
}

std::string SeedValues::import_hint() const {
  return are_imported ? "; these runs are imported: xlm runs import --split says which numbers are evaluations" : "";
}

SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column,
                       const std::string& over) {
  const std::vector<Value>& values = runs.column(column);
  return seed_values(
      runs, rows, [&](std::size_t row) { return as_number(values[row]); }, over);
}

SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const NumberOfRow& number_of,
                       const std::string& over) {
  SeedValues setting;
  const std::vector<Value>& groups = runs.column(over);
  const std::vector<Value>& status = runs.column("status");
  const std::vector<Value>& reasons = runs.column_or_nothing("reason");
  const std::vector<Value>& sources = runs.column_or_nothing(kImportedSource);
  setting.are_imported = std::ranges::none_of(rows, [&](std::size_t row) { return is_missing(sources[row]); });
  for (const std::size_t row : rows) {
    const std::optional<double> number = number_of(row);
    const bool is_beyond = number && std::abs(*number) > kLargest;
    if (!number || !std::isfinite(*number) || is_beyond) {
      const bool is_none = to_text(reasons[row]).find(kNotFinite) != std::string::npos;
      const std::string state = is_beyond ? "beyond 1e70" : is_none ? "not finite" : to_text(status[row]);
      setting.without_number[state].insert(runs.id(row));
      if (is_none || is_beyond || state == name_of(RunStatus::kDiverged)) setting.diverged.insert(to_text(groups[row]));
      continue;
    }
    setting.by_group[to_text(groups[row])].push_back(*number);
    setting.numbers.push_back(*number);
    setting.runs.push_back(runs.id(row));
    setting.rows.push_back(row);
  }
  for (auto& [state, ids] : setting.without_number) {  // another evaluation of the run has one
    for (const std::string& id : setting.runs) ids.erase(id);
  }
  std::erase_if(setting.without_number, [](const auto& of_status) { return of_status.second.empty(); });
  std::erase_if(setting.diverged, [&](const std::string& group) { return setting.by_group.contains(group); });
  setting.mixes = differing_keys(runs, setting.rows);
  std::erase(setting.mixes, over);
  return setting;
}

namespace {

bool are_of_programs(RunTable& runs, const SeedValues& values) {
  const std::vector<Value>& programs = runs.column_or_nothing(kProgramFingerprint);
  return std::ranges::none_of(values.rows, [&](std::size_t row) { return to_text(programs[row]).empty(); });
}

/// Whether two seeds have one number of so many digits that they are one run twice.
bool repeats_a_seed(const SeedValues& values) {
  std::set<double> seen;
  return std::ranges::any_of(values.means(),
                             [&](double number) { return has_many_digits(number) && !seen.insert(number).second; });
}

bool has_one_number(const SeedValues& values) { return sample_deviation(values.numbers).value_or(0) == 0; }

}  // namespace

bool ignores_seeds(RunTable& runs, const SeedValues& values) {
  return values.by_group.size() > 1 && (has_one_number(values) || repeats_a_seed(values)) &&
         are_of_programs(runs, values);
}

bool have_same_numbers(RunTable& runs, const SeedValues& a, const SeedValues& b) {
  return a.by_group.size() > 1 && a.by_group == b.by_group && !has_one_number(a) && are_of_programs(runs, a) &&
         are_of_programs(runs, b);
}

SeedComparison compare_seeds(const ByGroup& a, const ByGroup& b) {
  std::vector<double> of_a;
  std::vector<double> of_b;
  for (const auto& [group, numbers] : a) {
    const auto other = b.find(group);
    if (other == b.end()) continue;
    of_a.push_back(mean(numbers));
    of_b.push_back(mean(other->second));
  }
  SeedComparison compared;
  const std::vector<double> all_of_a = means_of(a);
  const std::vector<double> all_of_b = means_of(b);
  const std::size_t rest = a.size() + b.size() - 2 * of_a.size();
  compared.difference = difference_of_means(all_of_a, all_of_b);
  if (!of_a.empty()) {
    const Estimate of_pairs = difference_of_pairs(of_a, of_b);
    compared.is_paired = are_better_in_pairs(of_pairs, rest, compared.difference);
    if (compared.is_paired) compared.difference = of_pairs;
  }
  double variance = 0;
  if (compared.is_paired) {
    compared.left_out = static_cast<std::int64_t>(rest);
    variance = compared.difference.error * compared.difference.error * static_cast<double>(of_a.size());
  } else if (compared.difference.freedom > 0) {
    variance = (std::pow(spread_of(all_of_a)->deviation, 2) + std::pow(spread_of(all_of_b)->deviation, 2)) / 2;
  }
  if (variance > 0 && !compared.difference.is_constant)
    compared.effect = compared.difference.value / std::sqrt(variance);
  return compared;
}

double far_worse(const std::vector<double>& numbers, int worse) {
  constexpr double kFar = 1e6;  // times the size of the numbers: what they are no longer matters
  double size = 1;
  for (const double number : numbers) size = std::max(size, std::abs(number));
  return worse * kFar * size;
}

ByGroup with_worst(const SeedValues& values, const ByGroup& others, int worse) {
  std::vector<double> numbers = values.means();
  std::ranges::copy(means_of(others), std::back_inserter(numbers));
  ByGroup all = values.by_group;
  for (const std::string& group : values.diverged) all[group] = {far_worse(numbers, worse)};
  return all;
}

SeedComparison compare_with_worst(const SeedValues& a, const SeedValues& b, int worse) {
  return compare_seeds(with_worst(a, b.by_group, worse), with_worst(b, a.by_group, worse));
}

bool have_same_corpora(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                       const std::string& column, const std::string& over) {
  std::vector<std::size_t> rows = a;
  rows.insert(rows.end(), b.begin(), b.end());
  const std::vector<std::string> corpora = corpora_of(runs, rows, {column});
  std::array<std::map<std::string, std::set<std::string>>, 2> sides;  // by value of `over`
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string group = over.empty() ? "" : to_text(runs.column(over)[rows[i]]);
    sides[i < a.size() ? 0 : 1][group].insert(corpora[i]);
  }
  return std::ranges::all_of(sides[0], [&](const auto& of_a) {
    const auto of_b = sides[1].find(of_a.first);
    return of_b == sides[1].end() || of_a.second == of_b->second;
  });
}

bool are_alike(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
               const std::string& column, const std::string& over, bool is_paired) {
  if (!have_same_corpora(runs, a, b, column, is_paired ? over : "")) return false;
  return over != "seed" || corpora_of_each(runs, {a}, column).front().size() <= 1;
}

std::vector<std::set<std::string>> corpora_of_each(RunTable& runs, const std::vector<std::vector<std::size_t>>& sets,
                                                   const std::string& column) {
  std::vector<std::size_t> rows;
  for (const std::vector<std::size_t>& set : sets) rows.insert(rows.end(), set.begin(), set.end());
  const std::vector<std::string> corpora = corpora_of(runs, rows, {column});
  std::vector<std::set<std::string>> each;
  auto next = corpora.begin();
  for (const std::vector<std::size_t>& set : sets) {
    each.emplace_back(next, next + std::ssize(set));
    next += std::ssize(set);
  }
  return each;
}

}  // namespace xlm
