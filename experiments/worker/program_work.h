// A program of the user's as a worker's work.
#pragma once

#include <memory>

#include "experiments/worker/work.h"

namespace xlm {

/// `settings` outlive the work.
std::unique_ptr<Work> make_program_work(const WorkSettings& settings);

}  // namespace xlm
