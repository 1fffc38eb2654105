// What runs of other sweeps say of the time and memory that those of a sweep need, before any of these is done.
#pragma once

#include <string_view>
#include <vector>

#include "experiments/launchers/resources.h"
#include "experiments/sweeps/run_shape.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// What a prediction goes by.
struct Experience {
  std::vector<FinishedRun> finished;  // of whatever sweeps
  std::vector<CostEstimate> costs;    // of the runs of the list, in its order; empty: not known
};

/// The time of the longest run that is to be done, by finished ones of its shape or, where there is none, by how many
/// FLOPs a second the one managed that has the same type of model and precision and is nearest to it in FLOPs of a
/// step; and, on the processor, the memory of the largest, by finished ones of its shape alone, of which each of the
/// `nodes` has its share. Each has a margin.
/// `device` is that on which the runs will be: "cpu" or "cuda". Nothing is said where nothing is known of one of the
/// runs: it may be the one that needs most.
Resources predicted_resources(const std::vector<SweepRun>& runs, const Experience& experience, std::string_view device,
                              std::int64_t nodes = 1);

}  // namespace xlm
