// Plans the rounds of a search.
#include "experiments/sweeps/search_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

bool is_lost(const SweepRun& run) { return run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged; }

/// A run that a new command does again, so that its trial may still get a value.
bool may_be_retried(const SweepRun& run) { return is_lost(run) && run.action == SweepAction::kRun; }

bool is_kill(std::string_view cause) {
  constexpr std::array<EndCause, 4> kKills{EndCause::kKilled, EndCause::kGone, EndCause::kNode, EndCause::kTime};
  return std::ranges::any_of(kKills, [&](EndCause kill) { return cause == name_of(kill); });
}

/// Whether the run failed because its attempts were killed or their machine was gone, fewer times in a row than a
/// worker tries by itself. That says nothing about its setting.
bool was_killed(const Run& run) {
  constexpr int kMaxKilled = 3;
  if (run.status != RunStatus::kFailed || run.history.empty() || !is_kill(run.history.back().cause)) return false;
  const auto was_preempted = [](const auto& state) { return state.state == name_of(RunStatus::kPreempted); };
  const auto begin = std::find_if(run.history.rbegin(), run.history.rend(), was_preempted);
  return std::count_if(run.history.rbegin(), begin, [](const auto& state) { return is_kill(state.cause); }) <
         kMaxKilled;
}

/// The value that represents a run which is done: what the store shows in the measure's column.
std::optional<double> final_value(const Run& run, const EvaluationColumn& column) {
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main || evaluation.split != column.split) continue;
    if (evaluation.not_finite.contains(column.name)) return kNoNumber;
    const std::map<std::string, double> numbers = evaluation.numbers();
    if (const auto value = numbers.find(column.name); value != numbers.end()) return value->second;
  }
  return std::nullopt;
}

[[noreturn]] void fail_without_measure(const Run& run, const Search& search) {
  std::set<std::string> names;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main) continue;
    for (const auto& [name, value] : evaluation.numbers()) names.insert(evaluation.split + "." + name);
  }
  const std::vector<std::string> has(names.begin(), names.end());
  throw UsageError(fmt::format("{} has no {}; sweep.search.measure asks for it\nit has {}", run.id, search.measure,
                               has.empty() ? "no evaluation" : join(has, ", ")));
}

/// The measure at the steps of a run, of evaluations while training.
std::map<std::int64_t, double> values_by_step(const Run& run, const EvaluationColumn& column) {
  std::map<std::int64_t, double> values;
  for (const RunEvaluation& evaluation : run.evaluations) {
    const auto value = evaluation.values.find(column.name);
    if (evaluation.split != column.split || !evaluation.at.empty()) continue;
    if (evaluation.not_finite.contains(column.name)) values[evaluation.step] = kNoNumber;
    if (value != evaluation.values.end()) values[evaluation.step] = value->second;
  }
  return values;
}

std::optional<double> finite_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  if (values.empty() || !std::isfinite(sum)) return std::nullopt;
  return sum / static_cast<double>(values.size());
}

/// The mean at the last step that all runs of a trial have reached.
TrialOutcome stopped_outcome(const std::vector<Run>& runs, const EvaluationColumn& column) {
  const auto all = mapped(runs, [&](const Run& run) { return values_by_step(run, column); });
  for (auto step = all.front().rbegin(); step != all.front().rend(); ++step) {
    std::vector<double> values;
    for (const auto& of_run : all) {
      if (const auto found = of_run.find(step->first); found != of_run.end()) values.push_back(found->second);
    }
    if (values.size() == all.size()) return {.value = finite_mean(values), .stopped_at = step->first};
  }
  return {};
}

/// The settings of the round that begins with trial `first`: recorded ones, and those that the sampler adds.
std::vector<SearchSetting> settings_of_round(SearchSampler& sampler, const std::vector<TrialOutcome>& outcomes,
                                             const SearchRecord& record, std::int64_t first, const Search& search) {
  std::vector<std::optional<SearchSetting>> known;
  const std::int64_t end = std::min(first + search.together, search.trials + 1);
  for (std::int64_t trial = first; trial < end; ++trial) known.push_back(record.find(trial));
  return sampler.next_round(outcomes, known);
}

/// Whether runs of the previous round may be tried again, and none of the next round, from `begin` on, exists.
bool waits_for_retries(const std::vector<SweepRun>& runs, std::size_t previous, std::size_t begin) {
  const auto next = runs.begin() + static_cast<std::ptrdiff_t>(begin);
  const bool retries = std::any_of(runs.begin() + static_cast<std::ptrdiff_t>(previous), next, may_be_retried);
  const bool begun = std::any_of(next, runs.end(), [](const SweepRun& run) { return !run.status.is_absent(); });
  return retries && !begun;
}

/// The search has gone on without these runs of the previous round.
void leave_lost_runs(std::vector<SweepRun>& runs, std::size_t previous, std::size_t begin) {
  for (std::size_t place = previous; place < begin; ++place) {
    if (!may_be_retried(runs[place])) continue;
    runs[place].action = SweepAction::kLeave;
    runs[place].reason = fmt::format("{}; its trial counts as the worst", name_of(runs[place].status));
  }
}

}  // namespace

std::optional<TrialOutcome> outcome_of(const Search& search, const std::vector<const SweepRun*>& runs) {
  const EvaluationColumn column = *evaluation_column(search.measure);
  std::vector<Run> read;
  bool stopped = false;
  bool lost = false;
  for (const SweepRun* run : runs) {
    try {
      read.push_back(read_live_run(run->planned.paths.folder));
    } catch (const DataError&) {
      return std::nullopt;  // absent, or damaged and to be written again
    }
    if (!has_ended(read.back().status) || was_killed(read.back())) return std::nullopt;
    stopped = stopped || read.back().status == RunStatus::kPruned;
    lost =
        lost || is_lost(*run) || read.back().status == RunStatus::kFailed || read.back().status == RunStatus::kDiverged;
  }
  if (lost) return TrialOutcome{};
  if (stopped) return stopped_outcome(read, column);
  std::vector<double> values;
  for (const Run& run : read) {
    const std::optional<double> value = final_value(run, column);
    if (!value) fail_without_measure(run, search);
    values.push_back(*value);
  }
  return TrialOutcome{.value = finite_mean(values)};
}

void plan_rounds(const Search& search, bool count_failed, SearchRecord& record, std::vector<SweepRun>& runs,
                 const AddRun& add) {
  SearchSampler sampler(search);
  std::vector<TrialOutcome> outcomes;
  std::size_t previous = 0;  // where the runs of the previous round begin
  std::int64_t asked = 0;
  for (std::int64_t round = 1; asked < search.trials; ++round) {
    const std::size_t begin = runs.size();
    const std::int64_t first = asked + 1;
    const std::vector<SearchSetting> settings = settings_of_round(sampler, outcomes, record, first, search);
    std::vector<std::vector<std::size_t>> members;
    for (const SearchSetting& setting : settings) {
      ++asked;
      members.emplace_back();
      for (const SweepPoint& point : points_of_trial(search, setting)) {
        members.back().push_back(add(point));
        SweepRun& run = runs[members.back().back()];
        if (run.trial == 0) run.trial = asked;
        if (run.round == 0) run.round = round;
      }
    }
    if (waits_for_retries(runs, previous, begin) && !count_failed) {
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(begin), runs.end());
      return;
    }
    leave_lost_runs(runs, previous, begin);
    for (std::size_t i = 0; i < settings.size(); ++i) record.propose(first + static_cast<std::int64_t>(i), settings[i]);
    if (round == 1) record.open(search, mapped(runs, &SweepRun::id));
    outcomes.clear();
    for (const std::vector<std::size_t>& places : members) {
      const auto of_trial = mapped(places, [&](std::size_t place) { return &std::as_const(runs[place]); });
      const std::optional<TrialOutcome> outcome = outcome_of(search, of_trial);
      if (!outcome) return;
      outcomes.push_back(*outcome);
    }
    previous = begin;
  }
}

std::vector<TrialView> trials_of(const Search& search, const std::vector<SweepRun>& runs) {
  std::map<std::int64_t, TrialView> trials;
  for (const SweepRun& run : runs) {
    trials[run.trial].trial = run.trial;
    trials[run.trial].runs.push_back(&run);
  }
  std::vector<TrialView> result;
  for (auto& [number, trial] : trials) {
    trial.outcome = outcome_of(search, trial.runs);
    result.push_back(std::move(trial));
  }
  return result;
}

}  // namespace xlm
