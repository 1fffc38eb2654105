// Copies of files that another program may be writing.
#pragma once

#include "base/files.h"

namespace xlm {

/// Copies a file with its permissions: whole, and on the disk afterwards. Throws ResourceError if the disk is full,
/// which fs::copy_file calls an input/output error.
void copy_whole_file(const fs::path& from, const fs::path& to);

/// Copies what a folder holds, with links as they are, into a folder that is created if it is missing.
void copy_folder(const fs::path& from, const fs::path& to);

}  // namespace xlm
