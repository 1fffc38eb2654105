// A lock that shows whether sweeps use a folder of runs.
#include "experiments/runs/runs_in_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace xlm {

RunsInUse::RunsInUse(const fs::path& runs, By who)
    : descriptor_(::open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) return;
  int result = 0;
  do {
    result = ::flock(descriptor_, who == By::kSweep ? LOCK_SH : LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  held_ = result == 0 || errno != EWOULDBLOCK;
}

RunsInUse::~RunsInUse() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace xlm
