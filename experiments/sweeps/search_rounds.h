// The trials of a search, round by round: what is asked in a round follows from how the runs of all rounds before it
// ended, and holds from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "experiments/sweeps/search.h"
#include "experiments/sweeps/search_record.h"
#include "experiments/sweeps/search_sampler.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// Adds the run of a point to a plan, unless it is there already, and returns its place.
using AddRun = std::function<std::size_t(const SweepPoint& point)>;

/// How the runs of one trial ended. Returns nullopt if one of them has not ended. Throws UsageError if one is done
/// without the measure.
std::optional<TrialOutcome> outcome_of(const Search& search, const std::vector<const SweepRun*>& runs);

/// Plans all rounds that can be asked for, into `runs` by `add`, and proposes to `record` what it lacks. Runs that
/// failed end the plan while no run of the next round exists, because they may be tried again; with `count_failed` they
/// count as ended. After that they are left, and their trial counts as the worst for good.
void plan_rounds(const Search& search, bool count_failed, SearchRecord& record, std::vector<SweepRun>& runs,
                 const AddRun& add);

/// One trial of a search, as a list shows it.
struct TrialView {
  std::int64_t trial = 0;
  std::vector<const SweepRun*> runs;
  std::optional<TrialOutcome> outcome;
};

/// The trials of a planned search, in order.
std::vector<TrialView> trials_of(const Search& search, const std::vector<SweepRun>& runs);

}  // namespace xlm
