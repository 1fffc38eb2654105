// A lock that shows whether sweeps use a folder of runs.
#include "experiments/runs/runs_in_use.h"

#include <fcntl.h>

#include "base/file_lock.h"

namespace xlm {

RunsInUse::RunsInUse(const fs::path& runs, By who)
    : descriptor_(::open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!descriptor_.is_open()) return;
  if (who == By::kSweep) {
    lock_file(descriptor_.get(), FileLock::kShared);
    held_ = true;
  } else {
    held_ = try_lock_file(descriptor_.get()) != LockResult::kBusy;
  }
}

}  // namespace xlm
