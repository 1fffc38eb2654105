// What the rest of a sweep costs.
#include "experiments/sweeps/cost_estimate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/yielding_defaults.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr std::size_t kRunsRead = 100;  // the newest ones; reading a folder takes a millisecond or so

/// The run folders of `runs` whose journals changed last.
std::vector<fs::path> newest_folders(const fs::path& runs) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  for (const fs::directory_entry& entry : entries_in(runs)) {
    std::error_code none;
    const auto time = fs::last_write_time(RunPaths{entry.path()}.journal(), none);
    if (!none) found.emplace_back(time, entry.path());
  }
  std::ranges::sort(found, std::greater<>());
  if (found.size() > kRunsRead) found.resize(kRunsRead);
  std::vector<fs::path> folders;
  for (auto& [time, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

double evaluation_speed(const Run& run) {
  double flops = 0;
  double seconds = 0;
  for (const RunEvaluation& evaluation : run.evaluations) {
    const double* const arithmetic = find_in(evaluation.values, "flops");
    const double* const time = find_in(evaluation.values, "seconds");
    if (arithmetic == nullptr || time == nullptr) continue;
    flops += *arithmetic;
    seconds += *time;
  }
  return seconds > 0 ? flops / seconds : 0;
}

/// The median of the numbers above 0; 0: there is none.
double usual(std::vector<double> numbers) {
  std::erase_if(numbers, [](double number) { return number <= 0; });
  return numbers.empty() ? 0 : median(std::move(numbers));
}

}  // namespace

MachineSpeed::MachineSpeed(const fs::path& runs, const std::string& host) {
  for (const fs::path& folder : newest_folders(runs)) {
    try {
      const Run run = read_run(folder);
      if (run.history.empty() ||
          std::ranges::none_of(run.history, [&](const RunState& state) { return state.host == host; })) {
        continue;
      }
      const Json* type = run.param("model.type");
      const double seconds = value_or(run.costs, "training_seconds", 0);
      known_.push_back({.model = type != nullptr && type->is_string() ? type->get<std::string>() : "",
                        .speed = {.training = seconds > 0 ? value_or(run.costs, "training_flops", 0) / seconds : 0,
                                  .evaluation = evaluation_speed(run)}});
    } catch (const DataError&) {
      // A damaged folder shows no speed.
    }
  }
}

MachineSpeed::Speed MachineSpeed::of(const std::string& model) const {
  std::vector<double> training;
  std::vector<double> evaluation;
  const auto collect = [&](bool any) {
    for (const Known& known : known_) {
      if (!any && known.model != model) continue;
      training.push_back(known.speed.training);
      evaluation.push_back(known.speed.evaluation);
    }
  };
  collect(false);
  if (usual(training) == 0) collect(true);
  return {usual(training), usual(evaluation)};
}

/// FLOPs of the evaluations that the sweep wants in addition and that are left. What cannot be read counts as the run's
/// own test.
double CostEstimator::wanted_flops(const SweepRun& run) {
  if (run.evaluations_left == 0) return 0;
  const RunConfiguration& own = run.planned.options;
  double all = 0;
  for (const WantedEvaluation& wanted : run.evaluations) {
    RunOptions options = own;
    try {
      Yaml tree = resolved(own);
      for (const auto& [key, value] : wanted.changes) tree.set(key, yaml_from_json(value, "evaluate"));
      options = read_run_options(tree);
    } catch (const Error&) {
      options = own;
    }
    all += arithmetic_.evaluation_flops(options, run.planned.inputs.data.symbols, wanted.split);
  }
  return all * static_cast<double>(run.evaluations_left) / static_cast<double>(run.evaluations.size());
}

CostEstimate CostEstimator::of(const SweepRun& run) {
  const RunConfiguration& options = run.planned.options;
  if (options.program) return {};
  const RunArithmetic arithmetic = arithmetic_.of(options, run.planned.inputs.data.symbols);
  CostEstimate estimate{.params = arithmetic.params, .steps = arithmetic.steps};
  if (!run.is_open()) return estimate;
  estimate.evaluation_flops = wanted_flops(run);
  if (run.status != RunStatus::kDone) {
    const auto done = static_cast<double>(std::max(run.checkpoint, options.continues.at));
    estimate.flops = std::max(arithmetic.steps.count - done, 0.0) * arithmetic.step_flops;
    const auto every = static_cast<double>(options.train.eval_every);
    const double last = std::max(arithmetic.steps.count - 1, 0.0);  // the last step's evaluation is the final one
    const double during = every > 0 ? std::max(std::floor(last / every) - std::floor(done / every), 0.0) : 0;
    estimate.final_flops = arithmetic.final_flops;
    estimate.evaluation_flops += during * arithmetic.during_flops + arithmetic.final_flops;
  }
  if (speed_ == nullptr) return estimate;
  const MachineSpeed::Speed speed = speed_->of(options.model.type());
  if (speed.training > 0) estimate.seconds = estimate.flops / speed.training;
  if (options.train.seconds > 0 && run.status != RunStatus::kDone) estimate.seconds = options.train.seconds;
  if (speed.evaluation > 0) estimate.evaluation_seconds = estimate.evaluation_flops / speed.evaluation;
  return estimate;
}

std::string cost_lines(const std::vector<CostEstimate>& costs) {
  double training = 0;
  double evaluations = 0;
  double final_ones = 0;
  double training_time = 0;
  double evaluation_time = 0;
  bool all_known = !costs.empty();
  for (const CostEstimate& cost : costs) {
    training += cost.flops;
    evaluations += cost.evaluation_flops;
    final_ones += cost.final_flops;
    const bool knows = (cost.flops == 0 || cost.seconds) && (cost.evaluation_flops == 0 || cost.evaluation_seconds);
    all_known = all_known && knows;
    training_time += cost.seconds.value_or(0);
    evaluation_time += cost.evaluation_seconds.value_or(0);
  }
  std::string text;
  if (evaluations > 0) text += fmt::format("evaluations: about {} FLOPs\n", human_count(evaluations));
  if (training > 0 && evaluations > training) {
    text +=
        fmt::format("they cost more than training; {}\n",
                    final_ones > evaluations / 2
                        ? "eval.max_windows=N scores only the first N windows of a row"
                        : "a larger train.eval_every makes fewer, eval.during.share=0.1 shorter ones while training");
  }
  if (all_known && training_time + evaluation_time > 0) {
    text += fmt::format("time, one run after the other, as earlier runs took here: {} of training, {} of evaluations\n",
                        human_duration(training_time), human_duration(evaluation_time));
  }
  return text;
}

std::vector<std::string> warmup_warnings(const std::vector<SweepRun>& runs, const std::function<Core&()>& open_core) {
  ArithmeticEstimator arithmetic(open_core);
  std::map<std::string, std::size_t> notes;
  for (const SweepRun& run : runs) {
    const RunConfiguration& options = run.planned.options;
    if (options.program) continue;
    auto steps = static_cast<double>(options.train.steps);
    if (options.train.flops > 0 && options.optimizer.warmup_steps > 0) {
      steps = arithmetic.of(options, run.planned.inputs.data.symbols).steps.count;
    }
    if (const std::string note = warmup_note(options.optimizer, steps); !note.empty()) ++notes[note];
  }
  std::vector<std::string> warnings;
  for (const auto& [note, count] : notes) {
    warnings.push_back(count == 1 ? note : fmt::format("in {} runs {}", count, note));
  }
  return warnings;
}

}  // namespace xlm
