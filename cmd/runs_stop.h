// xlm runs stop: asks the workers of runs to save and stop.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

/// Stops the named runs and those that meet all of `where`. One of the two may be empty, not both.
int stop_runs(const std::vector<std::string>& names, const std::vector<std::string>& where,
              const GlobalOptions& global);

}  // namespace xlm
