// xlm sweep on its way to a launcher.
#include "cmd/sweep_launch.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/list_growth.h"
#include "experiments/launchers/slurm.h"
#include "experiments/launchers/sweep_watch.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/store_update.h"
#include "experiments/sweeps/cost_estimate.h"
#include "experiments/sweeps/unreached_axes.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/pinned_program.h"

namespace xlm {
namespace {

constexpr int kAttempts = 200;            // to lock a list that another command is submitting
constexpr double kBetweenAttempts = 0.1;  // seconds

std::int64_t count_runs(const std::vector<SweepRun>& runs, SweepAction action) {
  return std::ranges::count_if(runs, [&](const SweepRun& run) { return run.action == action; });
}

/// "3 runs: 1 done already, 1 with a checkpoint, 1 to begin again"; empty if no run has begun, or none is left.
std::string what_is_there(const std::vector<SweepRun>& runs) {
  std::int64_t resume = 0;
  std::int64_t again = 0;
  for (const SweepRun& run : runs) {
    if (run.action != SweepAction::kRun || run.status.is_absent() || run.status == RunStatus::kQueued) continue;
    ++(run.resumes ? resume : again);
  }
  const std::int64_t done = count_runs(runs, SweepAction::kSkip);
  std::vector<std::string> parts;
  if (done > 0) parts.push_back(fmt::format("{} done already", done));
  if (resume > 0) parts.push_back(fmt::format("{} with a checkpoint", resume));
  if (again > 0) parts.push_back(fmt::format("{} to begin again", again));
  if (parts.empty() || count_runs(runs, SweepAction::kRun) == 0) return "";
  return fmt::format("{}: {}\n", counted(runs.size(), "run"), join(parts, ", "));
}

/// Without a lock, two commands that submit one list at once would both find it without workers.
std::unique_ptr<RunLock> lock_list(const WorkList& list) {
  create_folders(list.folder());
  for (int attempt = 1;; ++attempt) {
    try {
      return std::make_unique<RunLock>(list.folder());
    } catch (const RunLockedError&) {
      if (attempt == kAttempts || stop_requested()) {
        throw Error(
            fmt::format("another xlm sweep is submitting {}\nrun the same command again when it is done", list.name));
      }
    }
    sleep_seconds(kBetweenAttempts);
  }
}

}  // namespace

SweepLaunch::SweepLaunch(const LauncherEntry& launcher, const Recipe& recipe, const std::vector<SweepRun>& runs,
                         const SweepLaunchOptions& options, const GlobalOptions& global)
    : global_(global),
      entry_(launcher),
      request_{.list = make_work_list(recipe.experiment, global.runs, runs),
               .asked = recipe.resources,
               .site = {},
               .program = {},
               .sweep = options.words,
               .settings = {.jobs = options.jobs, .retry = options.retry}},
      launcher_(launcher.make()) {
  if (options.warns) {
    for (const std::string& warning : unreached_axes(runs)) spdlog::warn("{}", warning);
    for (const std::string& warning : warmup_warnings(runs, core)) spdlog::warn("{}", warning);
    if (entry_.waits && !global.quiet) say(what_is_there(runs));
  }
  request_.list.anyway = options.anyway;
  request_.list.early_stopping = recipe.early_stopping;
  if (recipe.search) request_.list.growth = ListGrowth{recipe.text, *recipe.run.source, fs::current_path()};
  request_.settings.should_stop = [also = options.should_stop] { return stop_requested() || (also && also()); };
  request_.settings.finished = [this] { update_store(global_.runs, global_.store_file()); };
  if (!global.quiet) {
    request_.settings.screen = stderr;
    request_.settings.terminal = global.standard_error;
  }
  if (entry_.here) {
    request_.list.runs_per_gpu = request_.asked.runs_per_gpu;
    return;
  }
  request_.site = read_site(find_site(options.site));
  if (!entry_.waits) request_.program = pinned_place(program_files(), global.runs, Machines::kSeveral);
}

/// As many as there are runs to be done, and no more than were asked for.
std::int64_t SweepLaunch::wanted_workers() const {
  const std::vector<SweepRun>& runs = request_.list.items;
  const std::int64_t open = std::ranges::count_if(runs, &SweepRun::is_open);
  return std::min(open, request_.settings.jobs > 0 ? request_.settings.jobs : launcher_->usual_workers(request_));
}

std::vector<QueuedWorker> SweepLaunch::present_workers() const {
  return launcher_->status(request_.list.runs, {request_.list.name}).value_or(std::vector<QueuedWorker>());
}

std::string SweepLaunch::preview() {
  std::string text = launcher_->preview(request_, std::max<std::int64_t>(wanted_workers(), 1));
  const std::int64_t present = std::ssize(present_workers());
  if (present > 0) text += fmt::format("{} of this sweep wait or run already\n", counted(present, "worker"));
  return text;
}

void SweepLaunch::start() {
  launcher_->preview(request_, std::max<std::int64_t>(wanted_workers(), 1));  // complains before anything is written
  std::unique_ptr<RunLock> lock;
  if (!entry_.waits) lock = lock_list(request_.list);
  submit_runs(request_.list);
  if (!entry_.waits) queue_failed_runs(request_.list);
  update_store(global_.runs, global_.store_file());
  if (entry_.here || !entry_.waits) {  // its place may be another by now
    request_.program =
        pin_program(program_files(), global_.runs, entry_.here ? Machines::kThisOne : Machines::kSeveral);
  }
  if (!entry_.waits) write_work_list(request_.list);
  before_ = present_workers();
  added_ = entry_.waits ? 1 : std::max<std::int64_t>(wanted_workers() - std::ssize(before_), 0);
  if (added_ > 0) launched_ = launcher_->start(request_, added_);
}

void SweepLaunch::report(const std::string& command) const {
  const std::vector<SweepRun>& runs = request_.list.items;
  const std::int64_t open = count_runs(runs, SweepAction::kRun);
  const std::int64_t working = count_runs(runs, SweepAction::kWait);
  if (global_.json) {
    print(json_text({{"sweep", request_.list.name},
                     {"runs", runs.size()},
                     {"queued", open},
                     {"running", working},
                     {"workers_before", before_.size()},
                     {"workers_added", added_},
                     {"list", request_.list.file().string()},
                     {"logs", request_.list.folder().string()}}));
    return;
  }
  std::string text = fmt::format("{} of {} to do", open, counted(runs.size(), "run"));
  if (working > 0) text += fmt::format(", {} running", working);
  text += "\n";
  if (!before_.empty()) {
    const auto count = static_cast<std::int64_t>(before_.size());
    text += fmt::format("{} of this sweep wait{} or run{} already{}\n", counted(count, "worker"), count == 1 ? "s" : "",
                        count == 1 ? "s" : "", added_ == 0 ? "; nothing was submitted" : "");
  }
  text += launched_.text;
  text += fmt::format("to wait for them: {} --wait\n", command);
  print(text);
}

LaunchReport SweepLaunch::wait() {
  if (launched_.report) return *launched_.report;
  WatchSettings settings;
  settings.should_stop = request_.settings.should_stop;
  settings.finished = [this] { update_store(global_.runs, global_.store_file()); };
  settings.workers = [this] { return launcher_->status(request_.list.runs, {request_.list.name}); };
  if (!global_.quiet) {
    settings.screen = stderr;
    settings.terminal = global_.standard_error;
    say(launched_.text);
  }
  for (;;) {
    LaunchReport report = SweepWatch(request_.list.items, settings).run();
    if (report.interrupted || !request_.list.growth) return report;
    std::vector<SweepRun> grown = grown_runs(request_.list);
    if (grown.size() <= request_.list.items.size()) return report;
    request_.list.items = std::move(grown);
  }
}

std::string site_file(const std::string& queue) {
  if (!queue.empty() && queue != "slurm") {
    const fs::path file = shipped_file("sites", queue);
    if (!file.empty()) return read_file(file);
    throw UsageError(
        fmt::format("there is no site file for '{}'; there are slurm, pbs, lsf, sge, ssh and apart", queue));
  }
  std::optional<SlurmCluster> cluster;
  std::string text =
      "# How to submit jobs on this cluster; xlm reads this file from ~/.config/xlm/site.yaml, --site FILE or "
      "$XLM_SITE.\n"
      "# Uncomment what you need. A sweep's own `resources:` take precedence.\n";
  try {
    cluster = ask_cluster();
    text += fmt::format("#\n# Slurm {} of {}; arrays of {} tasks at most; {}. Its partitions:\n", cluster->version,
                        cluster->name, cluster->max_array,
                        cluster->counts_memory ? "jobs should ask for memory" : "jobs may not ask for memory");
    for (const SlurmPartition& partition : cluster->partitions) {
      text +=
          fmt::format("#   {}{}: {} to {} CPUs and up to {} GPUs in a node, {}\n", partition.name,
                      partition.is_default ? " (default)" : "", partition.cpus, partition.most_cpus, partition.gpus,
                      partition.time_limit > 0 ? "at most " + human_duration(partition.time_limit) : "no time limit");
    }
  } catch (const Error& error) {
    text += fmt::format("#\n# The cluster is unknown: {}\n", first_line(error.what()));
  }
  const std::string partition = cluster && !cluster->partitions.empty() ? cluster->partitions.front().name : "gpu";
  return text + fmt::format(
                    "\n# partition: {}\n"
                    "# account: my-project\n"
                    "# qos: normal\n"
                    "# resources: {{cpus: 8, gpus: 1, memory: 32GB, time: 4h}}   # for each worker\n"
                    "# save: 2min                    # a worker saves and stops so long before its time is over\n"
                    "# directives: [--constraint=a100, --exclude=node7]            # more options of sbatch\n"
                    "# setup: [module load cuda/12.4]                              # lines before the program\n"
                    "# container: apptainer exec --nv /shared/images/xlm.sif       # words before the program\n",
                    partition);
}

}  // namespace xlm
