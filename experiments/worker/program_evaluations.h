// The evaluations that a sweep wants of a program's run: its second command.
#pragma once

#include <cstdint>

#include "experiments/configuration/configuration.h"
#include "experiments/worker/missing_evaluations.h"

namespace xlm {

/// Makes what is missing of them (missing_evaluations.h). Each runs in the run's work folder, with the code that the
/// run began with, and reports to evaluations/HASH of the run folder. `run` is done; `configuration` is its own.
EvaluationsReport make_program_evaluations(const Run& run, const RunConfiguration& configuration, std::int64_t threads,
                                           JournalSink& sink);

}  // namespace xlm
