// Submitting a run: its folder appears, whole, with everything that a worker will go by.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "experiments/runs/run_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// What a run folder is made of.
struct NewRun {
  std::string config;  // text of config.yaml
  Json environment;
  std::vector<std::pair<std::string, Json>> records;  // type and fields of the journal's first records
};

/// Makes a run folder, whole or not at all; false when it exists already.
bool create_run_folder(const fs::path& folder, const NewRun& content);

/// Removes what killed processes left of run folders that they were making; once before runs are submitted.
void remove_unfinished_submissions(const fs::path& runs);

/// Makes the run folder, whole or not at all, with its resolved configuration and state queued. Where it exists already
/// the run is only counted to one more experiment, an unfinished one takes over where and how it is to be done, and a
/// request to stop it is taken back; a configuration that cannot be read any more is written again.
void submit(const PlannedRun& run);

/// Copies the frozen code of a program's run that is not done next to the runs of another folder, so that it resumes
/// there. Nothing is copied if there is no whole copy: submitting the run again makes one.
void copy_program_code(const Run& run, const fs::path& runs);

}  // namespace xlm
