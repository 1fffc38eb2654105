// What finished runs say of others that are like them.
#include "experiments/sweeps/run_shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {
namespace {

double cost_of(const Run& run, const char* name) {
  const auto found = run.costs.find(name);
  return found == run.costs.end() ? 0.0 : found->second;
}

/// When an attempt that began then last gave a sign, before the state that followed.
double last_sign(const Run& run, double began, double until) {
  double last = began;
  const auto look_at = [&](double time) {
    if (time > last && time <= until) last = time;
  };
  for (const RunCheckpoint& checkpoint : run.checkpoints) look_at(checkpoint.time);
  for (const RunEvaluation& evaluation : run.evaluations) look_at(evaluation.time);
  return last;
}

}  // namespace

std::string shape_of(const RunOptions& options, std::int64_t symbols) {
  Yaml tree = resolved(options);
  Yaml model = tree.take("model");
  for (const char* key : {"init_from", "pretrained"}) model.take(key);  // numbers, whatever they are
  const TrainOptions& train = options.train;
  return fmt::format("{}\n{} symbols, {} x {}, micro_batch {}, {} processes, precision {}", to_text(model), symbols,
                     train.batch, train.block, train.micro_batch, train.processes, static_cast<int>(train.precision));
}

double seconds_of_step(const Run& run) {
  double seconds = 0;
  double began = 0;
  for (const RunState& state : run.history) {
    const bool running = state.state == name_of(RunStatus::kRunning);
    // How a lost worker ended is said by whoever takes the run up, perhaps hours later.
    const double end = running || !state.cause.empty() ? last_sign(run, began, state.time) : state.time;
    if (began > 0) seconds += std::max(end - began, 0.0);
    began = running ? state.time : 0;
  }
  return seconds / static_cast<double>(std::max<std::int64_t>(run.step, 1));
}

std::optional<FinishedRun> finished_run(const Run& run) {
  if (run.status != RunStatus::kDone || run.is_evaluation) return std::nullopt;
  RunOptions options;
  try {
    options = read_run_options(read_yaml(RunPaths{run.folder}.config()));
  } catch (const Error&) {
    return std::nullopt;  // of another version, or damaged
  }
  const auto text = [&](const char* key) {
    const auto found = run.environment.find(key);
    return found != run.environment.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto symbols = run.environment.find("symbols");
  if (symbols == run.environment.end() || !symbols->is_number_integer()) return std::nullopt;
  const std::string device = text("device");
  if (run.micro_batch > 0) options.train.micro_batch = rows_at_once(run);  // which is what its memory was for
  FinishedRun finished{.id = run.id,
                       .experiment = run.experiment,
                       .shape = shape_of(options, symbols->get<std::int64_t>()),
                       .model = options.model.type(),
                       .device = device.substr(0, device.find(':')),
                       .precision = options.train.precision,
                       .processes = options.train.processes,
                       .steps = static_cast<double>(run.step)};
  finished.step_seconds = seconds_of_step(run);
  finished.step_flops = kTrainingPerForward * cost_of(run, "flops_per_token") *
                        static_cast<double>(options.train.batch * options.train.block);
  finished.peak_memory = cost_of(run, "peak_memory");
  return finished;
}

}  // namespace xlm
