// Training of one run: steps, evaluations and checkpoints, resumable at any point. Knows no model by name.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// Trains job.options in job.folder, going on from its newest whole checkpoint, and writes job.folder/model at the end.
/// N steps equal k steps, a kill at any moment and N − k steps, bit for bit on the CPU with the same thread count.
/// Throws DivergedError when the loss or a weight is not finite; the checkpoints before stay.
TrainOutcome train(const TrainJob& job, TrainSink& sink);

}  // namespace xlm
