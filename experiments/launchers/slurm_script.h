// Writes the batch script of a sweep's workers.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/launchers/launcher.h"

namespace xlm {

/// A script for sbatch: an array of `tasks` workers of the request's list. A worker saves if its time ends or a more
/// urgent job needs its place, and its task returns to the queue; `expedited`: before other jobs, if its node failed.
/// The task of a cancelled worker does not.
std::string slurm_script(const LaunchRequest& request, const Resources& resources, std::int64_t tasks,
                         bool expedited = false);

}  // namespace xlm
