// What a worker of a sweep needs from a cluster, and where each number comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/sweeps/asked_resources.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// The largest train.processes of the runs.
std::int64_t most_processes(const std::vector<SweepRun>& runs);

/// The values of `first`, with those of `fallback` for what is unset.
Resources or_else(Resources first, const Resources& fallback);

/// The GPUs that the runs' devices ask for, of a place that has `some` or none.
Need gpus_of_devices(const std::vector<SweepRun>& runs, bool some, const std::string& place);

/// Throws UsageError if workers would have no GPU, but runs need one.
void check_gpus(const Resources& resources, const std::vector<SweepRun>& runs);

/// What finished runs of the sweep tell about the others, with a margin: the longest time that a remaining run needs,
/// and the memory that the largest took on the processor. Unset if no run is done.
Resources learned_resources(const std::vector<SweepRun>& runs);

/// The time to request if so many seconds are expected, in whole ten minutes.
double whole_time(double seconds);

/// How fast runs of a sweep are, by their journals.
struct Pace {
  double step = 0;  // seconds per step of the slowest finished run, with everything between the steps; 0: none is done
  double checkpoint = 0;  // seconds of the longest checkpoint of any run; 0: unknown
};

/// This many runs are enough: many workers may ask at once, with long lists.
inline constexpr std::size_t kRunsLookedAt = 16;

/// Reads the folders of the first `most` runs of the list that are done or have checkpoints.
Pace pace_of(const std::vector<SweepRun>& runs, std::size_t most);

/// Seconds before its time ends when a worker is told to save: the site's value, or else two minutes or four times the
/// longest checkpoint. At most half of `time` (0: no limit), because a worker that is told to save at once would never
/// advance.
double save_seconds(const std::optional<double>& site, double checkpoint, double time);

/// Machines of a cluster that failed under an unfinished run, according to its journal: their names up to the first
/// dot.
std::set<std::string> failed_nodes(const std::vector<SweepRun>& runs, const std::string& cluster);

/// How many runs like this one fit in memory, with a margin: of its GPU or, without `gpu`, of a machine with
/// `machine` bytes. Returns nullopt if the run does not tell, or if it used the other kind of device.
std::optional<std::int64_t> runs_that_fit(const Run& run, bool gpu, double machine);

/// One line for each resource with its origin.
std::string shown_resources(const Resources& resources);

}  // namespace xlm
