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

/// What a look at a claim may spend of 5 %, if each look doubles the seeds of the one before: 0.04 of the first, 0,
/// then 0.005, 0.0025, … Together they are 0.05, so by the union bound looking on finds no more by chance.
double level_of_look(std::int64_t look);

/// How far from a single limit a true value has to be, so that this chance is kPlannedChance.
double distance_decided(const Estimate& estimate);

}  // namespace xlm
