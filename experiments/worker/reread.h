// Reading again what a program has reported, once `program.metrics` says it better.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

struct Reread {
  std::int64_t lines = 0;             // with numbers
  bool is_whole = true;               // false: what was read before stays, too, as not all of it is left
  std::vector<std::string> warnings;  // as at the end of a run
};

/// Reads all that the program of a run has left, its output and its files, as `configuration` says, and journals it in
/// place of what was read before. Throws DataError, and changes nothing, if it cannot be read or has no number;
/// RunLockedError while a worker has the run.
Reread reread_run(const fs::path& folder, const RunConfiguration& configuration);

}  // namespace xlm
