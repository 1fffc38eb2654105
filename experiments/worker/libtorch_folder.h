// Where libtorch is, if not where the program was built against.
#pragma once

#include "base/files.h"

namespace xlm {

/// The folder of libtorch_cpu.so that XLM_LIBTORCH names. Else, for a portable folder without it (`own` is where it
/// would be), that of the torch wheel next to the folder or in the active environment of Python or conda.
/// Empty if the program is to use its own. Throws UsageError if torch there is of another version than the one that the
/// program was built against.
fs::path libtorch_folder(const fs::path& own);

}  // namespace xlm
