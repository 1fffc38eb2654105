// A file that several processes may write, on several machines, and that keeps what the first of them wrote.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/files.h"

namespace xlm {

struct FirstFile {
  mode_t mode = kNewFileMode;
  bool durable = true;          // it outlives a crash of the machine
  const char* doing = "write";  // in an error: "cannot write FILE"
};

/// Writes a file, whole, unless there is one of that name: a kill leaves all of it or none. Returns whether this call
/// wrote it. The folder must exist. Throws DataError or ResourceError.
bool write_first(const fs::path& path, std::string_view content, const FirstFile& how = {});

}  // namespace xlm
