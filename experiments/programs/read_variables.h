// Variables of the environment that a program reads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The variables that code below `folder` or words of a command name, as os.environ["LR"], getenv("LR") or $LR in a
/// shell script, and some that libraries read, with the values that the program inherits. Those of `given` are left
/// out, which the run's own configuration says, and those that belong to a machine, a user or a job. In place of a long
/// value, or of a secret one, stands a hash.
std::map<std::string, std::string> read_variables(const fs::path& folder, const std::vector<std::string>& words,
                                                  const std::map<std::string, std::string>& given);

}  // namespace xlm
