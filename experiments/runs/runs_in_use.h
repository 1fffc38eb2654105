// A lock that shows whether sweeps use a folder of runs. A sweep reads its runs repeatedly until it ends, even runs
// without a worker. They must not be moved away meanwhile.
#pragma once

#include "base/descriptor.h"
#include "base/files.h"

namespace xlm {

/// A lock on a folder of runs. It ends with the process. On a network file system it holds on this machine only. If the
/// file system has no such locks, every process gets it.
class RunsInUse {
 public:
  enum class By { kSweep, kMove };

  /// Sweeps share the lock and wait for a move to end. A move needs it alone and does not wait.
  RunsInUse(const fs::path& runs, By who);

  /// False if the folder does not exist yet, or if a move finds the lock taken.
  bool held() const { return held_; }

 private:
  Descriptor descriptor_;
  bool held_ = false;
};

}  // namespace xlm
