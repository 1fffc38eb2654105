// Core as a worker's work: training, in one process or several, and evaluations.
#pragma once

#include <functional>
#include <memory>

#include "core/api/interface.h"
#include "experiments/worker/work.h"

namespace xlm {

std::unique_ptr<Work> make_core_work(const std::function<Core&()>& open_core, const WorkSettings& settings);

/// What another process of a run does that several do together (`train.processes`): it computes, and writes nothing but
/// what it says. Returns its exit code, one of the usual ones or of experiments/worker/peers.h; throws as core does.
int take_part(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings,
              Processes processes);

}  // namespace xlm
