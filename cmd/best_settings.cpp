// The best settings of a sweep, and settings whose seeds are equal.
#include "cmd/best_settings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxShown = 3;

/// The mean over the seeds of one setting.
struct RankedSetting {
  double value = 0;
  std::size_t seeds = 0;
  std::string name;
};

/// Whether runs of programs have the same final numbers, bit for bit, as others of their group, in each that has
/// several.
bool have_equal_numbers(const std::vector<SweepRun>& planned, const std::vector<Run>& runs,
                        const std::function<std::string(std::size_t run)>& group) {
  using Numbers = std::map<std::string, double>;
  std::map<std::string, std::array<Numbers, 2>> first;  // by group: of validation and test
  bool compared = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!planned[i].planned.options.program) continue;
    std::array<Numbers, 2> numbers;
    for (std::size_t split = 0; split < numbers.size(); ++split) {
      const RunEvaluation* evaluation = main_evaluation(runs[i], split == 0 ? "valid" : "test");
      if (evaluation != nullptr) numbers[split] = evaluation->numbers();
      numbers[split].erase("seconds");
    }
    if (numbers[0].empty() && numbers[1].empty()) continue;
    const auto [other, is_first] = first.try_emplace(group(i), numbers);
    if (is_first) continue;
    if (other->second != numbers) return false;
    compared = true;
  }
  return compared;
}

}  // namespace

std::string best_settings(const std::vector<SweepRun>& planned, std::vector<std::string> keys,
                          const std::vector<Run>& runs, const Quantity& measure) {
  if (std::any_of(keys.begin(), keys.end(), says_which_text)) return "";
  std::erase(keys, "seed");
  std::map<std::string, std::vector<double>> by_setting;
  std::map<std::string, std::map<std::string_view, std::size_t>> without;  // seeds without a number, by why
  std::set<std::int64_t> ends;  // the steps of programs that were not told how many
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunEvaluation* evaluation = main_evaluation(runs[i], "valid");
    const std::map<std::string, double> numbers =
        evaluation == nullptr ? std::map<std::string, double>() : evaluation->numbers();
    const bool has_number = numbers.contains(measure.name);
    const bool is_pruned = runs[i].status == RunStatus::kPruned;
    if (!has_number && !is_pruned && runs[i].status != RunStatus::kDone) continue;
    std::vector<std::string> parts;
    for (const std::string& key : keys) {
      const std::string value = shown_value(planned[i].point, key);
      if (!value.empty()) parts.push_back(key + "=" + value);
    }
    const auto& options = planned[i].planned.options;
    if (has_number && options.program && options.train.steps == 0) ends.insert(evaluation->step);
    if (has_number) {
      by_setting[join(parts, " ")].push_back(numbers.at(measure.name));
    } else {
      ++without[join(parts, " ")][is_pruned ? "pruned" : "without a number"];
    }
  }
  if (by_setting.size() < 2) return "";
  std::vector<RankedSetting> ranked;
  for (const auto& [name, values] : by_setting) {
    if (!without.contains(name)) ranked.push_back({mean(values), values.size(), name});
  }
  std::ranges::stable_sort(ranked, [&](const RankedSetting& a, const RankedSetting& b) {
    return measure.better == Better::kLower ? a.value < b.value : a.value > b.value;
  });
  ranked.resize(std::min(ranked.size(), kMaxShown));
  std::string text = fmt::format(
      "best of {} settings by valid {}{}:\n", by_setting.size(), measure.label,
      ends.size() < 2 ? "" : fmt::format(", which ended at other steps, from {} to {}", *ends.begin(), *ends.rbegin()));
  for (const RankedSetting& one : ranked) {
    const std::string seeds = one.seeds > 1 ? fmt::format(" (mean over {} seeds)", one.seeds) : "";
    text += fmt::format("  {}{}  {}\n", list_number(measure, one.value), seeds, one.name);
  }
  for (const auto& [name, seeds] : without) {
    for (const auto& [why, count] : seeds) {
      const bool is_whole = why == "pruned" && !by_setting.contains(name);  // a setting that was pruned
      if (!is_whole) text += fmt::format("  not ranked, {} {}: {}\n", counted(count, "seed"), why, name);
    }
  }
  return text;
}

bool seeds_change_nothing(const std::vector<SweepRun>& planned, const std::vector<Run>& runs) {
  return have_equal_numbers(planned, runs, [&](std::size_t run) { return planned[run].setting; });
}

std::vector<std::string> options_that_change_nothing(const std::vector<SweepRun>& planned,
                                                     const std::vector<std::string>& keys,
                                                     const std::vector<Run>& runs) {
  std::vector<std::string> found;
  for (const std::string& key : keys) {
    std::set<std::string> values;
    for (const SweepRun& run : planned) values.insert(shown_value(run.point, key));
    if (!key.starts_with("options.") || values.size() < 2) continue;
    const auto others = [&](std::size_t run) {
      std::string text;
      for (const std::string& other : keys) text += other == key ? "" : shown_value(planned[run].point, other) + "\n";
      return text;
    };
    if (have_equal_numbers(planned, runs, others)) found.push_back(key);
  }
  return found;
}

}  // namespace xlm
