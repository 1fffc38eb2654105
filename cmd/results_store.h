// Opens the store of results for commands: synced first, with progress if that takes time.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "experiments/configuration/best_of.h"
#include "results/store/run_table.h"
#include "results/store/store.h"

namespace xlm {

/// Opens the store that `global` names and syncs it with the run folders. A store that is not writable is read as it
/// is, with a warning. If there are neither runs nor a store, the result is empty and nothing is created. Throws
/// DataError if the user named a folder of runs that does not exist.
Store open_store(const GlobalOptions& global);

/// The runs of that store.
RunTable open_runs(const GlobalOptions& global);

/// Finds values that are winners of other sweeps among the runs of the store, which is opened at the first question.
ChooseValue choose_in_store(const GlobalOptions& global);

/// The columns that runs of the store have, as it was when it was last synced. None if there is no store, or
/// it cannot be read; nothing is written.
std::set<std::string> measured_columns(const GlobalOptions& global);

/// Shows the progress of work on at least `least` runs, from the first report on.
std::function<void(double done, double total)> progress_of_runs(const char* label, double least,
                                                                const GlobalOptions& global);

SyncOptions sync_options(const GlobalOptions& global);

std::string no_runs_hint(const GlobalOptions& global);

/// Why no run is listed: there is none, or the condition that none meets (see unmet_condition).
std::string why_no_runs(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& columns,
                        const GlobalOptions& global);

/// The one run that `name` means: an id, the beginning of an id or of its hash, or, with a slash, a run folder. Throws
/// DataError with the nearest id if there is none. Throws UsageError with the candidates if there are several, and for
/// a path outside the folder of runs.
std::string find_run(const RunTable& runs, const std::string& name, const GlobalOptions& global);

/// Says how many of the rows are of older versions of their program's code: a mean over these describes no version.
void warn_of_older_code(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                        const std::vector<std::string>& columns = {});

inline constexpr const char* kColumnList = "COLUMN,…";

/// The columns in such lists. A comma in quotes or in brackets is part of a column: `=min(a,b)`,
/// test.bpc@data.name="a,b".
std::vector<std::string> listed_columns(const std::vector<std::string>& lists);

/// The help of arguments for find_run.
inline constexpr const char* kRunNames = "Run ids, the beginnings of them or of their hashes, or run folders";

/// Declares --where: conditions that must all hold. `which` begins its help.
void add_where(CLI::App& app, std::vector<std::string>& where, std::string_view which = "Only");

/// Ids of the named runs and of those that meet the conditions; of all runs if neither is given. Throws as find_run
/// does, and DataError if no run is chosen, with the condition that no run meets.
std::set<std::string> choose_runs(RunTable& runs, const std::vector<std::string>& names,
                                  const std::vector<std::string>& where, const GlobalOptions& global);

}  // namespace xlm
