// Opens libxlm_core.so on first use.
#include "experiments/core_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/program.h"

namespace xlm {
namespace {

constexpr const char* kLibraryName = "libxlm_core.so";

/// Libraries loaded here by path satisfy libxlm_core.so's own needs by name, whatever its search path says.
void open_named_libtorch() {
  const char* folder = std::getenv("XLM_LIBTORCH");
  if (folder == nullptr || *folder == '\0') return;
  for (const char* name : {"libc10.so", "libtorch_cpu.so"}) {
    const fs::path file = fs::path(folder) / name;
    if (::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      throw Error(
          fmt::format("cannot open libtorch: {}\nXLM_LIBTORCH must name the folder of libtorch_cpu.so "
                      "(the torch wheel's torch/lib)",
                      ::dlerror()));
    }
  }
}

/// Threads that spin while they wait take the processor from those that they wait for, wherever a machine does other
/// work too: steps were measured six times slower. libgomp reads this when it is loaded with core.
void limit_spinning() {
  constexpr const char* kSpins = "10000";  // a fraction of a millisecond
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", kSpins, 0);
}

Core* open_core() {
  limit_spinning();
  open_named_libtorch();
  const fs::path file = program_files().core_library;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        fmt::format("cannot open {}\nset XLM_LIBTORCH to the folder of libtorch_cpu.so (the torch wheel's torch/lib)",
                    ::dlerror()));
  }
  const auto entry = reinterpret_cast<Core* (*)()>(::dlsym(library, "xlm_core"));
  if (entry == nullptr)
    throw Error(fmt::format("{} is not the library of this program: {}", file.string(), ::dlerror()));
  return entry();
}

}  // namespace

ProgramFiles program_files() { return {program_file(), program_library(kLibraryName)}; }

Core& core() {
  static Core* const opened = open_core();
  return *opened;
}

}  // namespace xlm
