// The shell lines that a worker's job runs, whatever queue it was in.
#pragma once

#include <string>
#include <string_view>

#include "experiments/launchers/launcher.h"

namespace xlm {

/// The site's lines before a worker. One that fails ends the job before a run begins.
std::string setup_lines(const Site& site);

/// Lines that start a worker of the request's list, which begins no run that would not end by the time in `$end` (may
/// be unset), tell it to save if the job gets TERM, INT or one of `signals`, and wait for it. `$code` is its exit code
/// then, and `$told` the last of `signals` that came.
std::string worker_lines(const LaunchRequest& request, std::string_view signals);

/// A script for a queue that does not tell when a job ends: a worker saves so long before `seconds` (0: no limit) are
/// over. If runs are left then, the job exits with the code `again` (0: 75, as if it had been told to stop).
std::string queue_script(const LaunchRequest& request, double seconds, int again);

}  // namespace xlm
