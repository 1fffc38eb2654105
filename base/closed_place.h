// Places that other users of a machine cannot change.
#pragma once

#include <sys/stat.h>

#include "base/files.h"

namespace xlm {

/// Whether nobody but this user and root can change what is at `path` or put another thing there: each folder and link
/// on the way belongs to one of them, and neither a group nor others may write in it. In a sticky folder, as /tmp, what
/// is there stays its owner's. What is not there yet counts as made by this user.
bool is_closed_to_others(const fs::path& path);

/// While it lives, what this process makes is written by its owner alone, whatever the umask would allow a group.
class OwnerWrites {
 public:
  OwnerWrites() : before_(::umask(S_IWGRP | S_IWOTH)) { ::umask(before_ | S_IWGRP | S_IWOTH); }
  OwnerWrites(const OwnerWrites&) = delete;
  OwnerWrites& operator=(const OwnerWrites&) = delete;
  ~OwnerWrites() { ::umask(before_); }

 private:
  mode_t before_;
};

}  // namespace xlm
