// Submits a run: its folder appears, whole, with everything that a worker needs.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "experiments/runs/run_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// The content of a new run folder.
struct NewRun {
  std::string config;  // text of config.yaml
  Json environment;
  std::vector<std::pair<std::string, Json>> records;       // type and fields of the journal's first records
  std::function<void(const fs::path& folder)> bring = {};  // puts further files into the folder
};

/// Creates a run folder, whole or not at all. Returns false if it exists already.
bool create_run_folder(const fs::path& folder, const NewRun& content);

/// Removes half-made run folders of killed processes. Call it once before runs are submitted.
void remove_unfinished_submissions(const fs::path& runs);

/// Creates the run folder, whole or not at all, with its resolved configuration and the state queued. If it exists
/// already, the run is also listed under the new experiment, and a request to stop it is removed. An unfinished run
/// takes over the new settings that do not change its result. A configuration that cannot be read is written again.
void submit(const PlannedRun& run);

/// Copies the frozen code of a program's run next to the runs of another folder, and that of the evaluations that are
/// still wanted: it resumes there, and once it is done a sweep knows it by that copy, whatever has become no code
/// since. Nothing is copied if there is no whole copy: submitting the run again makes one.
void copy_program_code(const Run& run, const fs::path& runs);

/// The hashes of those copies.
std::set<std::string> frozen_code_of(const Run& run);

/// Makes the copies whole that an archive brought next to the runs of a folder (restore_unpacked_code).
void restore_unpacked_programs(const fs::path& runs);

}  // namespace xlm
