// Where the running program lies, and the libraries beside it.
#include "base/program.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

fs::path program_file() {
  std::error_code error;
  fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("cannot find the program's own file: " + error.message());
  return file;
}

fs::path program_library(const char* name) { return program_file().parent_path().parent_path() / "lib" / name; }

void* program_function(const char* library, const char* function) {
  const fs::path file = program_library(library);
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    throw Error(
        fmt::format("cannot open a library of this program: {}\ninstall the program again, as a whole", ::dlerror()));
  }
  void* const found = ::dlsym(opened, function);
  if (found == nullptr) throw Error(fmt::format("{} is not the library of this program", file.string()));
  return found;
}

}  // namespace xlm
