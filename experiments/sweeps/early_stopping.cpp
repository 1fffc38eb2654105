// Asynchronous successive halving.
#include "experiments/sweeps/early_stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/options.h"
#include "base/text.h"
#include "experiments/sweeps/measure_direction.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

/// "1/3" or "0.25" as a number. Returns nullopt if the text is no share.
std::optional<double> share_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  double above = 0;
  double below = 1;
  const bool numbers = slash == std::string::npos
                           ? parse_real(text, above)
                           : parse_real(text.substr(0, slash), above) && parse_real(text.substr(slash + 1), below);
  if (!numbers || !(above > 0) || !(below > 0) || above >= below) return std::nullopt;
  return above / below;
}

struct EarlyStoppingOptions {
  std::string measure = EarlyStopping().measure;
  std::vector<std::int64_t> rungs;
  std::string keep = "1/3";

  void visit(OptionVisitor& v) {
    v.field({.name = "measure", .help = "of the evaluations while training: valid.loss, valid.bpc, …"}, measure);
    v.field({.name = "rungs", .help = "steps at which runs pause, in rising order", .min = 1, .max = 9e15}, rungs);
    v.field({.name = "keep", .help = "the share of the settings at a rung that continue: 1/3, 0.25"}, keep);
  }
};

/// A setting with all its seeds.
struct Contender {
  std::vector<std::optional<double>> measured;  // set once all its runs have reached the rung
  std::vector<bool> left;                       // whether a run has gone on from it
  Allowance allowance;
};

/// The mean over runs at a rung. Returns nullopt if one of them has not reached it. A lost run makes the mean the
/// worst.
std::optional<double> mean_at(const std::vector<const RunAtRungs*>& runs, std::size_t rung, bool lower_is_better) {
  double sum = 0;
  for (const RunAtRungs* run : runs) {
    const std::optional<double>& value = run->measured.at(rung);
    if (!value && !run->lost) return std::nullopt;
    if (!value || !std::isfinite(*value)) return std::numeric_limits<double>::infinity();
    sum += (lower_is_better ? 1 : -1) * *value;
  }
  return sum / static_cast<double>(runs.size());
}

/// Judges one rung: decides which of the settings that can reach it continue. Returns whether this is final.
bool judge(const EarlyStopping& rule, std::size_t rung, bool all_will_come, std::vector<Contender*> here) {
  const std::size_t coming = here.size();
  std::erase_if(here, [&](const Contender* one) { return !one->measured[rung]; });
  std::ranges::stable_sort(
      here, [&](const Contender* a, const Contender* b) { return *a->measured[rung] < *b->measured[rung]; });
  const bool complete = all_will_come && here.size() == coming;
  const auto share = static_cast<std::size_t>(std::floor(rule.keep * static_cast<double>(here.size()) + 1e-9));
  const std::size_t places = complete ? std::max<std::size_t>(share, 1) : share;
  for (std::size_t i = 0; i < here.size(); ++i) {
    Contender& one = *here[i];
    one.allowance = {rung, rung, i + 1, here.size(), complete};
    const auto has_value_at = [&one](std::size_t at) {
      return at < one.measured.size() && one.measured[at] && std::isfinite(*one.measured[at]);
    };
    const bool went_on = one.left[rung] && (has_value_at(rung) || has_value_at(rung + 1));
    if (went_on || (i < places && has_value_at(rung))) one.allowance.rung = rung + 1;
  }
  return complete;
}

/// Where nothing can be judged, runs would wait at the rung for ever.
[[noreturn]] void throw_unjudged(const Run& run, const EarlyStopping& rule, std::int64_t rung) {
  std::string has = "no evaluation of valid";
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.split != "valid" || !evaluation.at.empty()) continue;
    const auto names = mapped(evaluation.values, [](const auto& value) { return "valid." + value.first; });
    has = fmt::format("{}, first at step {}", join(names, ", "), evaluation.step);
    break;
  }
  throw UsageError(
      fmt::format("{} has no {} at step {} or before, so sweep.early_stopping cannot judge it\n"
                  "it has {}; choose a measure that it has, and rungs at its first evaluation or behind",
                  run.id, rule.measure, rung, has));
}

/// What a journal records of a run at the rungs: its last evaluation at or before each that it has passed. Final
/// evaluations count, too: if the weights of a rung become the model, theirs replaces the one made there.
RunAtRungs at_rungs(const Run& run, const EarlyStopping& rule) {
  const EvaluationColumn column = *evaluation_column(rule.measure);
  const std::string name(column.name);
  RunAtRungs result{.setting = "", .measured = std::vector<std::optional<double>>(rule.rungs.size())};
  result.lost = run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged;
  std::map<std::int64_t, std::pair<double, double>> measured;  // and when
  std::int64_t passed = run.status == RunStatus::kDone ? std::numeric_limits<std::int64_t>::max() : 0;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.split != column.split || !evaluation.at.empty()) continue;
    passed = std::max(passed, evaluation.step);
    const auto value = evaluation.values.find(name);
    if (value != evaluation.values.end()) measured[evaluation.step] = {value->second, evaluation.time};
    if (evaluation.not_finite.contains(name))
      measured[evaluation.step] = {std::numeric_limits<double>::quiet_NaN(), evaluation.time};
  }
  // A run that waits at a rung is started again only if it may go on.
  double last_start = 0;
  for (const RunState& state : run.history) {
    if (state.state == name_of(RunStatus::kRunning)) last_start = state.time;
  }
  result.left.resize(rule.rungs.size());
  for (std::size_t i = 0; i < rule.rungs.size() && rule.rungs[i] <= passed; ++i) {
    const auto behind = measured.upper_bound(rule.rungs[i]);
    if (behind != measured.begin()) {
      const auto& [value, time] = std::prev(behind)->second;
      result.measured[i] = value;
      result.left[i] = run.status == RunStatus::kDone || last_start > time;
    } else if (run.status == RunStatus::kDone) {
      result.lost = true;
    } else if (!result.lost) {
      throw_unjudged(run, rule, rule.rungs[i]);
    }
  }
  return result;
}

}  // namespace

std::optional<EarlyStopping> read_early_stopping(const Yaml& configuration) {
  const Yaml* node = given_at(configuration, "sweep.early_stopping");
  if (node == nullptr) return std::nullopt;
  if (!node->is_map()) fail_at(*node, "sweep.early_stopping must be a map with measure, rungs and keep");
  const auto options = options_in<EarlyStoppingOptions>(*node);
  const std::optional<double> keep = share_of(options.keep);
  if (!keep) fail_at(*node, fmt::format("keep is '{}'; it must be a share between 0 and 1, such as 1/3", options.keep));
  if (options.rungs.empty()) fail_at(*node, "sweep.early_stopping.rungs is missing: steps, such as [1000, 3000]");
  if (!std::ranges::is_sorted(options.rungs, std::less_equal<>())) {
    fail_at(*node, "sweep.early_stopping.rungs must be in rising order");
  }
  const auto column = evaluation_column(options.measure);
  if (!column || column->split != "valid") {
    fail_at(*node, fmt::format("measure is '{}'; during training a run evaluates only validation: valid.loss, "
                               "valid.bpc, …",
                               options.measure));
  }
  const std::optional<Better> better = direction_in(configuration, column->name);
  if (!better) fail_at(*node, "sweep.early_stopping.measure: " + unknown_direction(column->name));
  return EarlyStopping{options.measure, options.rungs, *keep, *better == Better::kHigher, node->where()};
}

namespace {

[[noreturn]] void fail_at_rule(const EarlyStopping& rule, const std::string& message) {
  throw UsageError(fmt::format("{}: {}", rule.place, message));
}

/// Whether a program evaluates at a rung shows when it is there.
void check_rungs_of_program(const EarlyStopping& rule, const RunConfiguration& options) {
  if (options.program->resume == ProgramOptions::Resume::kRestart) {
    fail_at_rule(rule,
                 "sweep.early_stopping lets runs wait at rungs, and a program with resume: restart would begin again\n"
                 "let the program save to {checkpoints}, and use resume: checkpoint");
  }
  const std::int64_t steps = options.train.steps;
  if (steps == 0 || rule.rungs.back() < steps) return;
  fail_at_rule(rule, fmt::format("the rung {} is not below train.steps ({})", rule.rungs.back(), steps));
}

}  // namespace

void check_rungs(const EarlyStopping& rule, const RunConfiguration& options) {
  if (options.program) return check_rungs_of_program(rule, options);
  if (options.train.has_budget()) {
    fail_at_rule(rule,
                 "sweep.early_stopping needs a number of steps, and the length of these runs is a budget\n"
                 "give train.steps in place of train.flops and train.seconds");
  }
  const std::int64_t every = options.train.eval_every;
  for (const std::int64_t rung : rule.rungs) {
    if (rung < options.continues.at) {
      fail_at_rule(
          rule, fmt::format("the rung {} lies before the step {} that a run goes on from", rung, options.continues.at));
    }
    if (every > 0 && rung % every == 0 && rung < options.train.steps) continue;
    fail_at_rule(rule,
                 fmt::format("there is no evaluation at the rung {}: a run trains {} steps and evaluates every {}\n"
                             "rungs must be multiples of train.eval_every, below train.steps",
                             rung, options.train.steps, every));
  }
}

std::vector<Allowance> allowances(const EarlyStopping& rule, const std::vector<RunAtRungs>& runs,
                                  bool lower_is_better) {
  std::map<std::string, std::vector<const RunAtRungs*>> by_setting;
  for (const RunAtRungs& run : runs) by_setting[run.setting].push_back(&run);
  std::map<std::string, Contender> contenders;
  for (const auto& [setting, members] : by_setting) {
    Contender& one = contenders[setting];
    for (std::size_t rung = 0; rung < rule.rungs.size(); ++rung) {
      one.measured.push_back(mean_at(members, rung, lower_is_better));
      one.left.push_back(std::ranges::any_of(members, [rung](const RunAtRungs* run) {
        const bool is_behind = rung + 1 < run->measured.size() && run->measured[rung + 1];
        return is_behind || (rung < run->left.size() && run->left[rung]);
      }));
    }
  }
  bool all_will_come = true;
  for (std::size_t rung = 0; rung < rule.rungs.size(); ++rung) {
    std::vector<Contender*> here;
    std::set<const Contender*> met;
    for (const RunAtRungs& run : runs) {  // in the order of the sweep, which decides ties
      Contender* one = &contenders.at(run.setting);
      if (one->allowance.rung == rung && met.insert(one).second) here.push_back(one);
    }
    all_will_come = judge(rule, rung, all_will_come, std::move(here));
  }
  return mapped(runs, [&](const RunAtRungs& run) { return contenders.at(run.setting).allowance; });
}

Halving::Halving(EarlyStopping rule, const std::vector<SweepRun>& runs, bool tries_again)
    : rule_(std::move(rule)), runs_(runs), seen_(runs.size()) {
  const auto column = evaluation_column(rule_.measure);
  if (!column)
    throw UsageError(fmt::format("sweep.early_stopping.measure is '{}', which is no evaluation", rule_.measure));
  lower_is_better_ = !rule_.higher && known_direction(column->name) != Better::kHigher;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    places_.emplace(runs_[i].id(), i);
    seen_[i].at = {.setting = runs_[i].setting, .measured = std::vector<std::optional<double>>(rule_.rungs.size())};
    look_at(runs_[i]);
    const bool is_lost = runs_[i].status == RunStatus::kFailed || runs_[i].status == RunStatus::kDiverged;
    if (tries_again && is_lost && runs_[i].action == SweepAction::kRun) seen_[i].at.lost = false;
  }
  look();
}

void Halving::look() {
  std::map<std::int64_t, std::vector<std::size_t>> rounds;  // trials of different rounds of a search never compete
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    look_at(runs_[i]);
    rounds[runs_[i].round].push_back(i);
  }
  allowances_.resize(runs_.size());
  for (const auto& [round, places] : rounds) {
    const auto together = mapped(places, [this](std::size_t place) { return seen_[place].at; });
    const std::vector<Allowance> judged = allowances(rule_, together, lower_is_better_);
    for (std::size_t i = 0; i < places.size(); ++i) allowances_[places[i]] = judged[i];
  }
}

void Halving::look_at(const SweepRun& run) {
  const fs::path& folder = run.planned.paths.folder;
  Seen& seen = seen_[places_.at(run.id())];
  const std::string mark = journal_mark(folder);
  if (mark == seen.mark) return;
  std::optional<Run> now;
  try {
    now = read_run(folder);
  } catch (const Error&) {
    return;  // The folder is missing or damaged. The worker that takes the run reports it.
  }
  seen = {mark, at_rungs(*now, rule_), now->status == RunStatus::kDone};
  seen.at.setting = run.setting;
}

bool Halving::may_train(const SweepRun& run) const {
  const Seen& seen = seen_of(run);
  const std::size_t rung = allowance_of(run).rung;
  return seen.done || rung == rule_.rungs.size() || !seen.at.measured[rung];
}

std::int64_t Halving::pause_of(const SweepRun& run) const {
  const std::size_t rung = allowance_of(run).rung;
  return rung == rule_.rungs.size() ? 0 : rule_.rungs[rung];
}

bool Halving::has_reached(const SweepRun& run, std::int64_t step) const {
  const auto rung = std::ranges::find(rule_.rungs, step);
  return rung != rule_.rungs.end() &&
         seen_of(run).at.measured[static_cast<std::size_t>(rung - rule_.rungs.begin())].has_value();
}

std::string Halving::standing_of(const SweepRun& run) const {
  const Allowance& allowance = allowance_of(run);
  if (allowance.of == 0) return "";
  const std::optional<double>& measured = seen_of(run).at.measured[allowance.judged];
  const std::string value = measured ? fmt::format(" ({:.4f})", *measured) : "";
  return fmt::format("place {} of {} at step {} by {}{}", allowance.place, allowance.of, rule_.rungs[allowance.judged],
                     rule_.measure, value);
}

void leave_pruned(const EarlyStopping& rule, std::vector<SweepRun>& runs, bool tries_again) {
  const Halving halving(rule, runs, tries_again);
  for (SweepRun& run : runs) {
    if (run.action != SweepAction::kRun || halving.may_train(run)) continue;
    run.reason = halving.standing_of(run);
    if (halving.is_pruned(run)) {
      run.action = SweepAction::kLeave;
      run.reason = "pruned: " + run.reason;
    }
  }
}

}  // namespace xlm
