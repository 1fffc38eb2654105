// Training of one run: steps, evaluations and checkpoints, resumable at any point. Knows no model by name.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// Trains job.options in job.folder. Resumes from its newest whole checkpoint and writes job.folder/model at the end. A
/// run that is killed at any moment and resumed gives the same model as one that is not: bit for bit, on the CPU with
/// the same thread count. Throws DivergedError if the loss or a weight is not finite; earlier checkpoints stay.
TrainOutcome train(const TrainJob& job, TrainSink& sink);

}  // namespace xlm
