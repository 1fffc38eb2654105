// The status of a run's folder, which may be missing or damaged.
#pragma once

#include <optional>
#include <string_view>

#include "base/files.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

struct FolderStatus {
  std::optional<RunStatus> recorded;  // in the journal; none: there is no folder, or it is damaged
  bool is_damaged = false;

  bool is_absent() const { return !recorded && !is_damaged; }
  bool operator==(RunStatus status) const { return recorded == status; }
  bool operator==(const FolderStatus&) const = default;
};

/// Reads it, with the state of the run's worker.
FolderStatus status_of_folder(const fs::path& folder);

/// The status as a word; a run without a folder is "new".
std::string_view name_of(const FolderStatus& status);

}  // namespace xlm
