// The records of searches (experiments/sweeps/search_record.h) from one folder of runs to another. Without them a
// search that is merged would ask for its earlier trials again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// What a merge did to the record of one search.
struct MergedSearch {
  std::string name;                     // of its folder in .searches
  std::int64_t added = 0;               // trials that were not here
  std::vector<std::int64_t> differing;  // that were asked for with another setting there: those here stay
  std::vector<std::string> damaged;     // files there that cannot be read, and that are left there
};

/// The files that record searches in a folder of runs, sorted, as paths within it. Other files there are left out.
std::vector<fs::path> search_files(const fs::path& runs);

/// Adds the trials that are recorded in the folder of runs `from` and not in `runs`. Returns the searches of which a
/// trial was added, differs, or is damaged. `dry_run`: nothing is written. Any number of processes may do so at once.
std::vector<MergedSearch> merge_searches(const fs::path& from, const fs::path& runs, bool dry_run);

}  // namespace xlm
