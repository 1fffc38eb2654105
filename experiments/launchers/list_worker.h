// A worker on a work list: it does the runs of the list on this machine, until none is left to it.
#pragma once

#include "base/error.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

/// Does the runs of a list (see Scheduler::run), each in a process of its own.
LaunchReport work_on_list(const WorkList& list, const LaunchSettings& settings);

/// Does runs of a list that its file says, beside other workers. Returns kStopped if it has left runs undone. Of
/// `settings` count jobs, should_stop, enough_time and how to start a worker.
ExitCode share_list(const WorkList& list, LaunchSettings settings);

}  // namespace xlm
