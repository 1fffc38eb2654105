// Places that other users of a machine cannot change.
#pragma once

#include <sys/stat.h>

#include "base/files.h"

namespace xlm {

/// Returns whether only this user and root can change what is at `path`. Each folder and link on the way belongs to one
/// of them, and neither a group nor others may write in it. In a sticky folder such as /tmp a file stays its owner's. A
/// path that does not exist yet counts as made by this user.
bool is_closed_to_others(const fs::path& path);

/// Returns whether `path` is a link that neither this user nor root made.
bool is_link_of_another(const fs::path& path);

/// Returns whether this very user owns what is at `path`. In a user namespace that does not name this user, all owners
/// look the same, and nothing is known to be its own.
bool is_owned_by_this_user(const fs::path& path);

/// While it lives, only their owner may write the files that this process makes, whatever the umask allows a group.
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
