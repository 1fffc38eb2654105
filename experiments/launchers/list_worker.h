// A worker on a work list: it runs the list on this machine until no run is left for it.
#pragma once

#include "base/error.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

/// Does the runs of a list (see do_list), each in a separate process, and those by which it grows.
LaunchReport work_on_list(WorkList list, const LaunchSettings& settings);

/// Does runs of a list file together with other workers. Returns kStopped if it has left runs undone. Uses from
/// `settings`: jobs, should_stop, enough_time, and how to start a worker.
ExitCode share_list(const WorkList& list, LaunchSettings settings);

}  // namespace xlm
