// A work list that grows: that of a search, whose later runs follow from the results of earlier ones.
#pragma once

#include <set>
#include <string>

#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

enum class Growth {
  kWork,     // the list may have runs for this worker
  kDone,     // nothing is left, or only what a user has stopped or this worker has given up
  kStopped,  // asked to stop, or no time is left
};

/// Adds the runs that follow from the results so far, makes their folders, and writes the list's file if there is one.
/// Every worker of a list adds the same runs. While others do the last runs of a round, a worker of a shared list
/// waits. `given_up` are runs that this worker could not do. A list that does not grow is kDone.
Growth grow(WorkList& list, const LaunchSettings& settings, const std::set<std::string>& given_up);

/// The runs of a list that follow from the results so far. Writes the record of the search, but no run.
std::vector<SweepRun> grown_runs(const WorkList& list);

}  // namespace xlm
