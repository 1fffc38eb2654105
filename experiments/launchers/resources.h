// What a worker of a sweep needs of a cluster, and where each number comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// An amount, and who says so; without a source nobody does.
struct Need {
  double value = 0;
  std::string source;

  bool known() const { return !source.empty(); }
};

struct Resources {
  Need nodes;  // of the worker's job
  Need cpus;   // of each node, as gpus and memory are
  Need gpus;
  Need memory;                    // bytes
  Need time;                      // seconds
  std::int64_t runs_per_gpu = 0;  // at once; 0: as many as fit, by the memory that finished ones took
};

/// Reads a map `resources: {nodes: 1, cpus: 8, gpus: 1, memory: 32GB, time: 4h, runs_per_gpu: auto}`; null: nothing is
/// said. Throws UsageError with file:line.
Resources read_resources(const Yaml* given);

/// Of the run that has the most: train.processes.
std::int64_t most_processes(const std::vector<SweepRun>& runs);

/// What `first` says, and what it does not say from `fallback`.
Resources or_else(Resources first, const Resources& fallback);

/// Nodes of a worker's job: one where nothing is said.
std::int64_t count_nodes(const Resources& resources);

/// What earlier runs of the sweep say of those that are left: the longest time that one of them needs, and the memory
/// that the largest took on the processor, shared by so many nodes, each with a margin. Nothing where no run is done.
Resources learned_resources(const std::vector<SweepRun>& runs, std::int64_t nodes = 1);

/// A time that is asked for where so many seconds are expected: whole ten minutes.
double whole_time(double seconds);

/// How fast runs of a sweep go, by their journals.
struct Pace {
  double step = 0;        // seconds of a step of the slowest that is done, with all that comes between; 0: none is done
  double checkpoint = 0;  // seconds of the longest checkpoint of any; 0: not known
};

/// So many runs say enough: many workers may ask at once, of long lists.
inline constexpr std::size_t kRunsLookedAt = 16;

/// Reads the folders of so many runs that are done or have checkpoints, the first of the list.
Pace pace_of(const std::vector<SweepRun>& runs, std::size_t most);

/// Seconds before its time is over at which a worker is told to save: what the site says, otherwise two minutes or four
/// times the longest checkpoint, and never more than half of the time (0: no limit). A worker that is told to save as
/// soon as it starts would never get on.
double save_seconds(const std::optional<double>& site, double checkpoint, double time);

/// Machines of a cluster that failed under a run which is still to be done, as its journal says: the beginnings of
/// their names, up to a dot.
std::set<std::string> failed_nodes(const std::vector<SweepRun>& runs, const std::string& cluster);

/// For how many runs like this finished one there is memory, with a margin: of its GPU or, without `gpu`, of a machine
/// with so many bytes. Nothing where it does not say, or was on the other kind of device.
std::optional<std::int64_t> runs_that_fit(const Run& run, bool gpu, double machine);

/// "4h", "90min", "1d12h" in seconds, "32GB" in bytes (powers of 1000). Throw UsageError with file:line.
double read_duration(const Yaml& node, std::string_view what);
double read_memory(const Yaml& node, std::string_view what);

/// A line for each of the four, with its source.
std::string shown_resources(const Resources& resources);

}  // namespace xlm
