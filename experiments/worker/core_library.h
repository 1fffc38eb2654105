// Opens libxlm_core.so, and libtorch with it, when a command first needs a model.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// The core of this program. Opened once, on first use (0.3 s). Libtorch is taken from where libtorch_folder says,
/// otherwise from where the program was built against. Throws Error that says where it looked.
Core& core();

/// The program and its own shared libraries, which lie next to it, for pinning: absolute paths.
struct ProgramFiles {
  fs::path executable;
  fs::path core_library;
  bool is_portable = false;  // of a folder of `make portable`
};
ProgramFiles program_files();

}  // namespace xlm
