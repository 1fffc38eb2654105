// Opens libxlm_core.so on first use.
#include "experiments/worker/core_library.h"

#include <sys/mman.h>

#include <cstdlib>

#include <fmt/format.h>

#include "base/memory_limit.h"
#include "base/shared_library.h"
#include "experiments/worker/libtorch_folder.h"

namespace xlm {
namespace {

constexpr const char* kLibraryName = "libxlm_core.so";
constexpr const char* kLibtorch = "libtorch_cpu.so";

/// Libraries loaded here by path satisfy libxlm_core.so's own needs by name, whatever its search path says.
void open_named_libtorch() {
  const fs::path folder = libtorch_folder(library_path(kLibtorch));
  if (folder.empty()) return;
  for (const char* name : {"libc10.so", kLibtorch}) {
    open_library(folder / name, Symbols::kShared,
                 "XLM_LIBTORCH must name the folder of libtorch_cpu.so (the torch wheel's torch/lib)");
  }
}

/// Threads that spin while they wait take the processor from those that they wait for, wherever a machine does other
/// work too: steps were measured six times slower. libgomp reads this when it is loaded with core.
void limit_spinning() {
  constexpr const char* kSpins = "10000";  // a fraction of a millisecond
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", kSpins, 0);
}

/// Whether so much can be mapped, for a moment.
bool has_room(std::size_t bytes, int protection) {
  void* const mapped = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  ::munmap(mapped, bytes);
  return true;
}

/// Libtorch makes its tables while it is opened, and ends the program with a signal where it finds no memory for them.
void check_room_for_libtorch() {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  constexpr std::size_t kAddresses = 512;  // nearly all of it libtorch_cpu.so
  constexpr std::size_t kData = 96;
  if (has_room(kAddresses * kMegabyte, PROT_NONE) && has_room(kData * kMegabyte, PROT_READ | PROT_WRITE)) return;
  throw MemoryLimitError(
      fmt::format("out of memory: libtorch cannot be opened: it takes {} MiB of address space and {} MiB of data\n"
                  "raise the limits of this process (`ulimit -v`, `ulimit -d`)",
                  kAddresses, kData));
}

Core* open_core() {
  check_room_for_libtorch();
  limit_spinning();
  open_named_libtorch();
  const fs::path file = program_files().core_library;
  void* const library = open_library(file, Symbols::kOwn,
                                     "set XLM_LIBTORCH to the folder of libtorch_cpu.so (the torch wheel's torch/lib)");
  const auto entry = reinterpret_cast<Core* (*)()>(library_function(library, file, "xlm_core"));
  return entry();
}

}  // namespace

ProgramFiles program_files() { return {executable_path(), library_path(kLibraryName), is_portable()}; }

Core& core() {
  static Core* const opened = open_core();
  return *opened;
}

}  // namespace xlm
