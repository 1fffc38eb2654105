// Runs whose numbers stand at other places of an axis, drawn as one line.
#pragma once

#include <vector>

#include "results/figures/figure_series.h"

namespace xlm {

/// Whether a run lacks a number where others have one between its first and its last: its mean with them would be next
/// to one of a few runs, and the line through both would jump up and down.
bool have_other_places(const std::vector<FigureSample>& samples);

/// Whether each run has one number, and not all of them at one place: a line through them would be that of no run.
bool have_one_each(const std::vector<FigureSample>& samples);

/// All runs at the places of the one with the most records, and at those of others before and behind these. A run is
/// taken to go evenly from record to record.
std::vector<FigureSample> on_common_grid(const std::vector<FigureSample>& samples);

}  // namespace xlm
