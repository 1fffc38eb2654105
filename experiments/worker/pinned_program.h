// A copy of the program that a sweep's workers run, so that building again while it runs changes nothing.
#pragma once

#include "experiments/worker/core_library.h"

namespace xlm {

/// Which machines are to run it.
enum class Machines { kThisOne, kSeveral };

/// Where pin_program puts the executable's copy.
fs::path pinned_place(const ProgramFiles& program, const fs::path& runs, Machines machines = Machines::kThisOne);

/// Copies the executable to FOLDER/HASH/bin and the shared libraries next to it to …/lib, once for each content; copies
/// that do not have the hash any more are made again. FOLDER is RUNS/.programs. If others can change what lies there,
/// as in a folder that a group shares, it is in the user's cache; for this machine alone, also below the folder of
/// temporary files. From the look at the hash until a worker ends, only this user and root can change the copies.
/// Returns the executable's copy. A portable folder is not copied: no build changes it, and each version is unpacked to
/// a separate folder. Throws if the copy cannot be written, UsageError if each such place is open to
/// others.
fs::path pin_program(const ProgramFiles& program, const fs::path& runs, Machines machines = Machines::kThisOne);

}  // namespace xlm
