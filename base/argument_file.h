// A file that a command line names, which need not be a regular one.
#pragma once

#include <string>

#include "base/files.h"

namespace xlm {

/// The content, read once to its end: of a file, a pipe, a terminal, or "-", the standard input. What lies in folders
/// is read by read_file, which no pipe can block. Throws as that, and for a named pipe to which nothing writes for
/// seconds.
std::string read_argument(const fs::path& path, std::uintmax_t limit);

/// A path in which a leading ~ is the home folder, as a shell reads it. Other paths stay, and all if no home is known.
std::string expand_home(const std::string& path);

}  // namespace xlm
