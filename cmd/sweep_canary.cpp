// A few steps of two points before a sweep.
#include "cmd/sweep_canary.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/staged_folder.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/sweep_dry_run.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_plan.h"

namespace xlm {
namespace {

constexpr std::int64_t kSteps = 10;

/// Of a folder of runs among those of the sweep, so that workers elsewhere see it. No other command looks into it.
constexpr const char* kFolderPrefix = ".canary";

/// The first run to be done, and the one that costs most. Runs that begin from runs of the sweep cannot begin yet.
std::vector<SweepRun> canaries_of(const std::vector<SweepRun>& runs, const fs::path& folder) {
  std::vector<SweepRun> open;
  for (const SweepRun& run : runs) {
    if (run.planned.options.program)
      throw UsageError(
          "--canary does steps of built-in models: which option makes a program's run short is not known\n"
          "make a profile with short runs: docs/sweeps.md");
    if (run.action == SweepAction::kRun && run.source.empty()) open.push_back(run);
  }
  if (open.size() < 2) return open;
  const std::vector<CostEstimate> costs = estimate_costs(open, folder);
  const auto dearest = std::max_element(costs.begin(), costs.end(), [](const CostEstimate& a, const CostEstimate& b) {
    return a.flops + a.evaluation_flops < b.flops + b.evaluation_flops;
  });
  std::vector<SweepRun> canaries{open.front()};
  if (dearest != costs.begin()) canaries.push_back(open.at(static_cast<std::size_t>(dearest - costs.begin())));
  return canaries;
}

std::string words_of_point(const SweepRun& run) {
  std::vector<std::string> words;
  for (const auto& [key, value] : run.point) words.push_back(fmt::format("{}={}", key, trim(to_text(value))));
  return words.empty() ? "of the file" : join(words, " ");
}

/// The run with few steps, in another folder of runs.
SweepRun of_few_steps(SweepRun run, Planner& planner) {
  TrainOptions& train = run.planned.options.train;
  train.steps = train.steps > 0 ? std::min(train.steps, kSteps) : kSteps;
  train.epochs = train.flops = train.seconds = 0;
  train.tokens = train.eval_every_tokens = train.keep_every = 0;
  train.eval_every = train.checkpoint_every = train.steps;
  run.planned = planner.plan(run.planned.options);
  run.status = {};
  run.checkpoint = 0;
  return run;
}

}  // namespace

ExitCode try_canary(const LauncherEntry& launcher, Recipe recipe, const std::vector<SweepRun>& runs,
                    SweepLaunchOptions options, const GlobalOptions& global) {
  options.warns = false;
  std::vector<SweepRun> canaries = canaries_of(runs, global.runs);
  if (canaries.empty()) return kDone;
  const fs::path runs_folder = fs::absolute(global.runs);
  create_folders(runs_folder);
  remove_left_folders(runs_folder, kFolderPrefix);
  const StagedFolder folder(runs_folder / "canary", kFolderPrefix);
  GlobalOptions there = global;
  there.runs = folder.path();
  there.store = "";
  recipe.search.reset();
  recipe.early_stopping.reset();
  Planner planner(folder.path());
  for (SweepRun& run : canaries) run = of_few_steps(std::move(run), planner);
  LaunchReport report;
  {
    SweepLaunch launch(launcher, recipe, canaries, options, there);
    launch.start();
    report = launch.wait();
  }
  if (report.interrupted) return kStopped;
  for (SweepRun& run : canaries) {
    look_at(run, false);
    const auto how = report.ended.find(run.id());
    if (run.action == SweepAction::kSkip && how == report.ended.end()) continue;
    const Run ended = read_live_run(run.planned.paths.folder);
    throw Error(fmt::format("a canary ended as {}: {}\nit was the point {}; nothing of the sweep was begun",
                            name_of(ended.status), how == report.ended.end() ? ended.reason : how->second,
                            words_of_point(run)));
  }
  if (!global.quiet)
    say(fmt::format("canary: {} with their evaluations, at {}\n", counted(kSteps, "step"),
                    counted(canaries.size(), "point")));
  return kDone;
}

}  // namespace xlm
