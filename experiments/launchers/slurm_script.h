// The batch script of a sweep's workers.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/launchers/launcher.h"

namespace xlm {

/// A script for sbatch: an array of `tasks` workers of the request's list. A worker that is told to stop, by the end of
/// its time or for a job that is more urgent, saves, and its task goes back into the queue; one that somebody cancels
/// does not.
std::string slurm_script(const LaunchRequest& request, const Resources& resources, std::int64_t tasks);

}  // namespace xlm
