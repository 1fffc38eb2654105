// xlm runs stop: asks the workers of runs to save and stop.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

/// Stops the runs that are named and those that fulfil all of `where`; either may be empty, not both.
int stop_runs(const std::vector<std::string>& names, const std::vector<std::string>& where,
              const GlobalOptions& global);

}  // namespace xlm
