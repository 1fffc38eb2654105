// What a run was made with, from its configuration and its environment.
#pragma once

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Reads both of the run's folder. Throws DataError with the file's name if the configuration is missing or malformed.
void read_settings(Run& run);

}  // namespace xlm
