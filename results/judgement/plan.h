// What a comparison will say when all seeds of its plan are there.
#pragma once

#include <cstdint>

#include "results/judgement/limits.h"

namespace xlm {

/// The chance that the 95 % interval of `seeds` numbers will lie above a limit, if those that are still missing scatter
/// around `effect` by a spread of which nothing is known but the numbers that are there: at least two, independent.
double chance_above(const Estimate& seen, std::int64_t seeds, double limit, double effect);

/// The most that this chance may be of an interval within limits, whichever effect of the present interval is true.
double chance_within(const Estimate& seen, std::int64_t seeds, const Limits& limits);

/// How far from a single limit a true value has to be, so that this chance is kPlannedChance.
double distance_decided(const Estimate& estimate);

}  // namespace xlm
