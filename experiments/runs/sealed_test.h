// A test split that is not measured before it is opened (eval.sealed), once, for all runs that claims are about.
#pragma once

#include <string>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Whether a run's split must not be measured yet: its configuration seals it, and no record of the chain in its folder
/// of runs has opened it (results/run_folder/registration.h).
bool is_sealed(const Run& run, const std::string& split);

/// Throws UsageError if it is.
void check_is_open(const Run& run, const std::string& split);

}  // namespace xlm
