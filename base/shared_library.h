// Where the running program lies, and shared libraries that are opened on use.
#pragma once

#include <string>

#include "base/files.h"

namespace xlm {

/// The program's own file.
fs::path executable_path();

/// Where a shared library of the program lies: ../lib beside the folder of the program.
fs::path library_path(const char* name);

/// Who sees the symbols of a library that is opened.
enum class Symbols {
  kOwn,     // by the user who looks them up
  kShared,  // libraries that are opened later, too
};

/// Opens a shared library, which stays open. Throws Error with the loader's reason and `advice`, a line that says what
/// to do.
void* open_library(const fs::path& file, Symbols symbols, const std::string& advice);

/// A function of an open library of this program. Throws Error when the library has none of that name.
void* library_function(void* library, const fs::path& file, const char* function);

/// The same of one of the program's own libraries, by name; it is opened first.
void* library_function(const char* library, const char* function);

}  // namespace xlm
