// The store of results as commands open it: brought up to date first, with progress where that takes time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "results/store/run_table.h"
#include "results/store/store.h"

namespace xlm {

/// Opens the store that `global` names and syncs it with the run folders. A store that cannot be written is read as it
/// is, with a warning. Where there are neither runs nor a store, the result is empty and nothing is created; throws
/// DataError when the user named a folder of runs that does not exist.
Store open_store(const GlobalOptions& global);

/// Progress and liveness for a sync.
SyncOptions sync_options(const GlobalOptions& global);

/// What to tell someone whose store has no runs.
std::string no_runs_hint(const GlobalOptions& global);

/// The one run that `name` means: an id, the beginning of one or of its hash, or, with a slash, a run folder. Throws
/// DataError with the nearest id where there is none, as for any other thing that is missing, and UsageError with the
/// candidates of several, and for a path that leads out of the folder of runs.
std::string find_run(const RunTable& runs, const std::string& name, const GlobalOptions& global);

/// What help calls a list of columns.
inline constexpr const char* kColumnList = "COLUMN,…";

/// The columns in such lists. A comma in quotes or in brackets is part of a column: `=min(a,b)`,
/// test.bpc@data.name="a,b".
std::vector<std::string> listed_columns(const std::vector<std::string>& lists);

/// What help says of arguments that go to find_run.
inline constexpr const char* kRunNames = "Run ids, the beginnings of them or of their hashes, or run folders";

/// Ids of the runs that are named and of those that fulfil the conditions; of all runs where neither is given. Throws
/// as find_run, and DataError where no run is chosen, with the condition that none fulfils.
std::set<std::string> choose_runs(RunTable& runs, const std::vector<std::string>& names,
                                  const std::vector<std::string>& where, const GlobalOptions& global);

}  // namespace xlm
