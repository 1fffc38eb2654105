// Whether a sweep is at work in a folder of runs. A sweep looks at its runs again and again until it ends, also at
// those that no worker has: they must not be moved away meanwhile.
#pragma once

#include "base/files.h"

namespace xlm {

/// A lock on a folder of runs that ends with the process. A network file system keeps it on this machine alone, and
/// where there are no such locks everyone has it.
class RunsInUse {
 public:
  enum class By { kSweep, kMove };

  /// Sweeps share the lock, and wait for a move to end; who moves has it alone, and does not wait.
  RunsInUse(const fs::path& runs, By who);
  RunsInUse(const RunsInUse&) = delete;
  RunsInUse& operator=(const RunsInUse&) = delete;
  ~RunsInUse();

  /// False where the folder is not there yet; for who moves, where others have the lock.
  bool held() const { return held_; }

 private:
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace xlm
