// Updates the store after a run.
#pragma once

#include "base/files.h"

namespace xlm {

/// Syncs the store with the run folders. The store is only an index of them, so an error is only a warning.
void update_store(const fs::path& runs, const fs::path& store_file);

}  // namespace xlm
