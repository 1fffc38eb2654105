// Code of a program that is in no copy: what it imports, or what its command names, from elsewhere.
#pragma once

#include "experiments/programs/import_hook.h"
#include "experiments/worker/journal_sink.h"
#include "experiments/worker/program_setting.h"

namespace xlm {

/// Follows what one process of a run uses. It is recorded with the run, and for the runs that have the same code in the
/// same experiment: an edit between them would give one name to numbers of two programs.
class OutsideCode {
 public:
  OutsideCode(const Run& run, const ProgramPaths& paths, JournalSink& sink);

  /// Throws UsageError if a file that a run of the experiment used has been edited since; with `anyway` says so.
  void check(bool anyway);
  /// Prepares what the program is started with. `folder`: that of the code which was copied.
  void begin(const fs::path& folder, ProgramSetting& setting);
  /// Records what is new. Called about once a second.
  void look();
  /// Called after a whole program. `has_python`: it should have reported what it imports.
  void finish(bool has_python);

 private:
  void record(const OutsideFiles& files);
  OutsideFiles used_by_others() const;

  const Run& run_;
  const ProgramPaths& paths_;
  JournalSink& sink_;
  fs::path list_;  // of what runs with the same code have used
  OutsideFiles known_;
};

}  // namespace xlm
