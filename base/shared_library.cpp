// The running program's file, and shared libraries that are opened on use.
#include "base/shared_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory_limit.h"

namespace xlm {
namespace {

/// Throws for the loader's `reason`. If a limit leaves no room for a library, the loader says only that a segment
/// cannot be mapped, as it does for a library on a file system without execution rights.
[[noreturn]] void throw_loader_error(const std::string& reason, const std::string& advice) {
  const auto says = [&](const char* words) { return reason.find(words) != std::string::npos; };
  const bool unmapped = says("failed to map segment") || says("cannot map zero-fill pages");
  if (says("Cannot allocate memory") || (unmapped && process_limits().any())) {
    throw MemoryLimitError(
        fmt::format("out of memory: cannot open a library: {}\n"
                    "raise the limits of this process (`ulimit -v`, `ulimit -d`)",
                    reason));
  }
  throw Error(fmt::format("cannot open a library: {}\n{}", reason, advice));
}

}  // namespace

fs::path executable_path() {
  std::error_code error;
  fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("cannot find the program's own file: " + error.message());
  return file;
}

fs::path library_path(const char* name) { return executable_path().parent_path().parent_path() / "lib" / name; }

void* open_library(const fs::path& file, Symbols symbols, const std::string& advice) {
  const int visibility = symbols == Symbols::kShared ? RTLD_GLOBAL : RTLD_LOCAL;
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | visibility);
  if (opened == nullptr) throw_loader_error(::dlerror(), advice);
  return opened;
}

void* library_function(void* library, const fs::path& file, const char* function) {
  void* const found = ::dlsym(library, function);
  if (found == nullptr) throw Error(fmt::format("{} is not the library of this program", file.string()));
  return found;
}

void* library_function(const char* library, const char* function) {
  const fs::path file = library_path(library);
  void* const opened = open_library(file, Symbols::kOwn, "install the program again, as a whole");
  return library_function(opened, file, function);
}

}  // namespace xlm
