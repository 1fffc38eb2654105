// A search as `xlm sweep` shows it.
#include "cmd/search_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "experiments/sweeps/search_rounds.h"
#include "results/quantities/quantities.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr std::size_t kBestShown = 3;

/// Without keys that `when` has ruled out.
std::string searched_values(const Search& search, const SweepRun& run) {
  std::vector<std::string> parts;
  for (const KeyRange& key : search.keys) {
    const std::string value = shown_value(run.point, key.name);
    if (!value.empty()) parts.push_back(key.name + "=" + value);
  }
  return join(parts, " ");
}

/// The measure of each run of a trial.
std::vector<double> measured_values(const Search& search, const TrialView& trial) {
  std::vector<double> values;
  for (const SweepRun* run : trial.runs) {
    const std::optional<TrialOutcome> one = outcome_of(search, {run});
    if (one && one->value) values.push_back(*one->value);
  }
  return values;
}

std::int64_t last_trial(const std::vector<SweepRun>& runs) {
  std::int64_t last = 0;
  for (const SweepRun& run : runs) last = std::max(last, run.trial);
  return last;
}

}  // namespace

std::string search_result(const Search& search, const std::vector<SweepRun>& runs) {
  std::vector<TrialView> ended = trials_of(search, runs);
  std::size_t stopped = 0;
  std::size_t lost = 0;
  std::size_t open = 0;
  for (const TrialView& trial : ended) {
    if (!trial.outcome) ++open;
    if (trial.outcome && !trial.outcome->value) ++lost;
    if (trial.outcome && trial.outcome->value && trial.outcome->stopped_at > 0) ++stopped;
  }
  std::string text = fmt::format("{} of at most {} settings tried", ended.size() - open, search.trials);
  if (stopped > 0) text += fmt::format(", {} stopped early", stopped);
  if (lost > 0) text += fmt::format(", {} failed or diverged, which counts as the worst", lost);
  std::erase_if(ended, [](const TrialView& trial) {
    return !trial.outcome || !trial.outcome->value || trial.outcome->stopped_at > 0;
  });
  if (ended.empty()) return text + "\n";
  std::ranges::stable_sort(ended, [&](const TrialView& a, const TrialView& b) {
    return search.higher ? *a.outcome->value > *b.outcome->value : *a.outcome->value < *b.outcome->value;
  });
  ended.resize(std::min(ended.size(), kBestShown));
  text += fmt::format("; the best by {}:\n", search.measure);
  const Quantity quantity = xlm::quantity(evaluation_column(search.measure)->name);
  for (const TrialView& trial : ended) {
    const std::vector<double> values = measured_values(search, trial);
    std::string spread;
    if (values.size() > 1) {
      spread = fmt::format(" ± {} over {} seeds", list_number(quantity, sample_deviation(values).value_or(0)),
                           values.size());
    }
    text += fmt::format("  {}{}  trial {}: {}\n", list_number(quantity, *trial.outcome->value), spread, trial.trial,
                        searched_values(search, *trial.runs.front()));
  }
  return text;
}

std::string search_rest(const Search& search, const std::vector<SweepRun>& runs, double run_flops) {
  const bool is_open = std::ranges::any_of(runs, &SweepRun::is_open);
  const std::int64_t trials = search.trials - last_trial(runs);
  if (!is_open || trials <= 0) return "";
  const std::int64_t more = trials * std::ssize(search.seeds);
  std::string text =
      fmt::format("\nup to {} trials follow from results: at most {}", trials, counted(more, "more run"));
  if (run_flops > 0) {
    text += fmt::format(", about {} FLOPs if they cost as these", human_count(run_flops * static_cast<double>(more)));
  }
  return text;
}

}  // namespace xlm
