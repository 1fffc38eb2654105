// The running program's file, and shared libraries that are opened on use.
#pragma once

#include <string>

#include "base/files.h"

namespace xlm {

/// The program's own file, whose content says which program it is.
fs::path program_path();

/// What starts the program: its own file, or in a portable folder its launcher (cmd/portable/launcher.cpp).
fs::path executable_path();

/// Whether the program runs from a portable folder (`make portable`), by the folder's own loader.
bool is_portable();

/// How many words of /proc/self/cmdline are the loader's: those before the program's own file.
std::size_t loader_words();

/// The path of one of the program's shared libraries: ../lib from the executable's folder.
fs::path library_path(const char* name);

/// Where the symbols of an opened library are visible.
enum class Symbols {
  kOwn,     // only by looking them up
  kShared,  // in libraries that are opened later, too
};

/// Opens a shared library, which stays open. Throws Error with the loader's reason and `advice`, a line that says what
/// to do.
void* open_library(const fs::path& file, Symbols symbols, const std::string& advice);

/// A function of an open library of this program. Throws Error if the library has no such function.
void* library_function(void* library, const fs::path& file, const char* function);

/// The same for one of the program's own libraries, by name; opens it first.
void* library_function(const char* library, const char* function);

}  // namespace xlm
