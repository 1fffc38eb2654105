// A file that several processes may write, on several machines, and that keeps what the first of them wrote.
#pragma once

#include <string_view>

#include "base/files.h"

namespace xlm {

/// Writes a file, whole and durable, unless there is one of that name. Returns whether this call wrote it. The folder
/// must exist. Throws DataError or ResourceError.
bool write_first(const fs::path& path, std::string_view content);

}  // namespace xlm
