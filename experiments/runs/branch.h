// A run that goes on from a checkpoint of another one: which checkpoint, and whether its options let it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// What a new run takes from the run that it goes on from, its parent.
struct Branch {
  fs::path parent;                 // run folder
  std::int64_t step = 0;           // of the checkpoint
  bool is_program = false;         // all its checkpoints are taken, as they are
  bool keeps_best = false;         // the best weights so far are comparable
  Json environment;                // of the new run: {"parent": {"run", "step"}}, and threads of the parent
  std::vector<std::string> notes;  // for the user, and recorded in the run
};

/// Finds the run that `options` go on from. Puts its id and the step of the checkpoint into them. Returns its folder;
/// empty if it is not here, but its id and the step are known. Throws UsageError and DataError if it or a checkpoint is
/// missing. For ModelTense::kFuture the step must be known, or the run done: a plan is made again and again.
fs::path find_parent(RunConfiguration& options, const fs::path& runs, ModelTense tense);

/// What the run takes from `parent`. Throws DataError if the checkpoint is missing, UsageError if an option differs
/// that a checkpoint fixes. `inputs` are those of `options`.
Branch make_branch(const RunConfiguration& options, const RunInputs& inputs, const fs::path& parent);

/// Puts what the run takes into its folder, which is being made.
void bring_branch(const Branch& branch, const fs::path& run);

/// Makes sure that a run which goes on from another, or begins from a checkpoint's weights, has its start. A copy
/// without checkpoints takes it from the other run again. Throws DataError if that has it no more.
void require_start(const Run& run, const RunOptions& options);

/// The symbols that a run learns. Throws DataError if neither its data nor its model are here.
Vocabulary vocabulary_of_run(const fs::path& run);

}  // namespace xlm
