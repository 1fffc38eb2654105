// Lines of tries (experiments/sweeps/try_line.h) from one folder of runs to another.
#pragma once

#include <vector>

#include "base/files.h"
#include "experiments/collections/merged_record.h"

namespace xlm {

/// The journals of lines in a folder of runs, sorted, as paths within it.
std::vector<fs::path> line_files(const fs::path& runs);

/// Brings the lines of the folder of runs `from` to `runs`: those that are not here, and what those that are here lack.
/// A line that went on in both places stays as it is here. Returns what was changed, and what could not be. `dry_run`:
/// nothing is written.
std::vector<MergedRecord> merge_lines(const fs::path& from, const fs::path& runs, bool dry_run);

}  // namespace xlm
