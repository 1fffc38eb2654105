// Finds what a worker of a sweep needs from a cluster.
#include "experiments/launchers/resources.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "results/run_folder/run_cost.h"

namespace xlm {
namespace {

constexpr double kMargin = 1.5;
constexpr double kMaxSlurmSave = 65535;      // seconds; the largest value of --signal
constexpr std::size_t kAskedForOfEach = 16;  // runs of a long list considered for each whose folder is read
constexpr double kSave = 120;                // seconds that a worker has to save if no checkpoint is known
constexpr double kCheckpointsToSave = 4;     // it may be in the middle of a step, and file systems differ in speed
constexpr double kShareOfMemory = 0.9;       // of a GPU's or machine's memory that runs may use
constexpr double kProcessOverhead = 600e6;   // bytes on a GPU besides a process's tensors: CUDA's context, libraries

bool any_asks_for(const std::vector<SweepRun>& runs, std::string_view device) {
  return std::ranges::any_of(runs, [&](const SweepRun& run) { return run.planned.options.device.starts_with(device); });
}

}  // namespace

std::int64_t most_processes(const std::vector<SweepRun>& runs) {
  std::int64_t most = 1;
  for (const SweepRun& run : runs) most = std::max(most, run.planned.options.train.processes);
  return most;
}

Resources or_else(Resources first, const Resources& fallback) {
  if (!first.gpus.known()) first.gpu_type = fallback.gpu_type;
  for (Need Resources::*part : {&Resources::cpus, &Resources::gpus, &Resources::memory, &Resources::time}) {
    if (!(first.*part).known()) first.*part = fallback.*part;
  }
  if (first.runs_per_gpu == 0) first.runs_per_gpu = fallback.runs_per_gpu;
  return first;
}

Need gpus_of_devices(const std::vector<SweepRun>& runs, bool some, const std::string& place) {
  const std::int64_t processes = most_processes(runs);
  const std::string each = processes > 1 ? fmt::format(", train.processes: {}", processes) : "";
  if (any_asks_for(runs, "cuda")) return {static_cast<double>(processes), "device: cuda" + each};
  if (!any_asks_for(runs, "auto")) return {0, "device: cpu"};
  return {some ? static_cast<double>(processes) : 0.0,
          fmt::format("device: auto{}, and {} has {}", each, place, some ? "GPUs" : "no GPU")};
}

void check_gpus(const Resources& resources, const std::vector<SweepRun>& runs) {
  if (resources.gpus.value > 0 || !any_asks_for(runs, "cuda")) return;
  throw UsageError(
      fmt::format("{}: workers would have no GPU, but runs of the sweep have device: cuda", resources.gpus.source));
}

/// The memory of the largest attempt that ran out of memory with a single row at once, and its run.
Need memory_that_was_too_small(const std::vector<SweepRun>& runs) {
  Need most;
  for (const SweepRun& planned : runs) {
    if (planned.status != RunStatus::kFailed) continue;
    const Run run = read_live_run(planned.planned.paths.folder);
    if (!run.history.empty() && run.history.back().memory > most.value) most = {run.history.back().memory, run.id};
  }
  return most;
}

Resources learned_resources(const std::vector<SweepRun>& runs) {
  double seconds_per_step = 0;
  double memory = 0;
  std::string slowest;
  std::string largest;
  for (const SweepRun& planned : runs) {
    if (planned.status != RunStatus::kDone) continue;
    const Run run = read_live_run(planned.planned.paths.folder);
    const double seconds = seconds_of_step(run);
    if (seconds > seconds_per_step) {
      seconds_per_step = seconds;
      slowest = run.id;
    }
    const double peak = value_or(run.costs, "peak_memory", 0);
    const bool on_cpu = run.environment.value("device", "") == "cpu";  // on a GPU it is the GPU's memory
    if (on_cpu && peak > memory) {
      memory = peak;
      largest = run.id;
    }
  }
  double steps = 0;
  for (const SweepRun& run : runs) {
    if (run.action != SweepAction::kRun) continue;
    steps = std::max(steps, static_cast<double>(run.planned.options.train.steps - run.checkpoint));
  }
  Resources learned;
  if (seconds_per_step > 0 && steps > 0) {
    learned.time = {whole_time(kMargin * seconds_per_step * steps),
                    fmt::format("{:.0f} steps at the speed of {}, plus half", steps, slowest)};
  }
  if (memory > 0) learned.memory = {kMargin * memory, fmt::format("what {} took, plus half", largest)};
  const Need small = memory_that_was_too_small(runs);
  if (small.value > 0 && kMargin * small.value > learned.memory.value) {
    learned.memory = {kMargin * small.value,
                      fmt::format("{} ran out of {}: plus half", small.source, human_bytes(small.value))};
  }
  return learned;
}

double whole_time(double seconds) {
  constexpr double kWhole = 600;
  return std::ceil(seconds / kWhole) * kWhole;
}

Pace pace_of(const std::vector<SweepRun>& runs, std::size_t most) {
  Pace pace;
  std::size_t looked_at = 0;
  std::size_t asked_for = 0;
  for (const SweepRun& planned : runs) {
    if (looked_at == most || ++asked_for > kAskedForOfEach * most) break;
    const RunPaths& paths = planned.planned.paths;
    try {
      if (!fs::exists(paths.model()) && !fs::exists(paths.checkpoints())) continue;
      ++looked_at;
      const Run run = read_run(paths.folder);
      if (run.status == RunStatus::kDone) pace.step = std::max(pace.step, seconds_of_step(run));
      for (const RunCheckpoint& checkpoint : run.checkpoints) {
        pace.checkpoint = std::max(pace.checkpoint, checkpoint.seconds);
      }
    } catch (const std::exception&) {
      // A folder that is damaged or unreadable tells nothing.
    }
  }
  return pace;
}

double save_seconds(const std::optional<double>& site, double checkpoint, double time) {
  const double save = site.value_or(std::max(kSave, kCheckpointsToSave * checkpoint));
  return time > 0 ? std::min(save, time / 2) : std::min(save, kMaxSlurmSave);
}

std::set<std::string> failed_nodes(const std::vector<SweepRun>& runs, const std::string& cluster) {
  std::set<std::string> nodes;
  for (const SweepRun& planned : runs) {
    if (planned.action != SweepAction::kRun || !fs::exists(planned.planned.paths.journal())) continue;
    Run run;
    try {
      run = read_live_run(planned.planned.paths.folder);
    } catch (const DataError&) {
      continue;  // a damaged folder must not stop a submission, which repairs it
    }
    std::string host;  // the last worker's
    for (const RunState& state : run.history) {
      if (state.state == name_of(RunStatus::kRunning)) {
        const bool known = state.job.starts_with(cluster + ":") && state.hosts.empty();  // of several any may be it
        host = known ? state.host.substr(0, state.host.find('.')) : "";
      }
      if (state.cause == name_of(EndCause::kNode) && !host.empty()) nodes.insert(host);
    }
  }
  return nodes;
}

std::optional<std::int64_t> runs_that_fit(const Run& run, bool gpu, double machine) {
  const double peak = value_or(run.costs, "peak_memory", 0);
  double memory = 0;
  const bool on_gpu = parse_real(run.environment.value("gpu_memory", ""), memory) && memory > 0;
  const bool on_cpu = !on_gpu && run.environment.value("device", "") == "cpu";
  if (peak <= 0 || !(gpu ? on_gpu : on_cpu)) return std::nullopt;
  double each = peak;
  if (gpu) {
    // What libtorch keeps for later tensors no other process can have. Runs of programs and older runs do not tell it.
    each = kProcessOverhead + std::max(each, value_or(run.costs, "reserved_memory", 0));
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(kShareOfMemory * (gpu ? memory : machine) / each), 1);
}

std::string shown_resources(const Resources& resources) {
  TextTable table({{"of each worker"}, {"", true}, {"from"}});
  const auto row = [&](const char* name, const Need& need, const std::string& shown) {
    table.add({name, need.known() ? shown : "-", need.known() ? need.source : "not set: the cluster's default"});
  };
  row("cpus", resources.cpus, fmt::format("{:.0f}", resources.cpus.value));
  const std::string kind = resources.gpu_type.empty() ? "" : " " + resources.gpu_type;
  row("gpus", resources.gpus, fmt::format("{:.0f}{}", resources.gpus.value, kind));
  row("memory", resources.memory, human_bytes(resources.memory.value));
  row("time", resources.time, human_duration(resources.time.value));
  return table.render(TextTable::Format::kText);
}

}  // namespace xlm
