// A copy of the program that a sweep's workers run, so that building anew while it runs changes nothing.
#pragma once

#include "experiments/runs/core_library.h"

namespace xlm {

/// Where pin_program puts the executable's copy.
fs::path pinned_place(const ProgramFiles& program, const fs::path& runs);

/// Copies the executable to RUNS/.programs/HASH/bin and the shared libraries beside it to …/lib, once for each content;
/// copies that do not have the hash any more are made anew.
/// Returns the executable's copy. Throws where the copy cannot be written.
fs::path pin_program(const ProgramFiles& program, const fs::path& runs);

}  // namespace xlm
