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

/// Places in a portable folder. Its loader runs the program, so that loader is what the kernel has started.
constexpr const char* kLoader = "lib/glibc/ld-linux-x86-64.so.2";
constexpr const char* kLauncher = "bin/xlm";
constexpr const char* kProgram = "libexec/xlm";

fs::path started_file() {
  std::error_code error;
  fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error("cannot find the program's own file: " + error.message() + "\nit is named by /proc: mount that");
  return file;
}

/// The portable folder that the program runs from; empty if it does not.
fs::path portable_folder() {
  const fs::path file = started_file();
  fs::path folder = file.parent_path().parent_path().parent_path();
  std::error_code ignored;
  return file == folder / kLoader && fs::exists(folder / kProgram, ignored) ? folder : fs::path();
}

}  // namespace

fs::path program_path() {
  const fs::path folder = portable_folder();
  return folder.empty() ? started_file() : folder / kProgram;
}

fs::path executable_path() {
  const fs::path folder = portable_folder();
  return folder.empty() ? started_file() : folder / kLauncher;
}

bool is_portable() { return !portable_folder().empty(); }

std::size_t loader_words() { return is_portable() ? 3 : 0; }

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
