// Where the running program lies, and the libraries beside it that are opened on use.
#pragma once

#include "base/files.h"

namespace xlm {

/// The program's own file.
fs::path program_file();

/// Where a shared library of the program lies: ../lib beside the folder of the program.
fs::path program_library(const char* name);

/// A function of such a library, which is opened and stays open. Throws Error when it is not there.
void* program_function(const char* library, const char* function);

}  // namespace xlm
