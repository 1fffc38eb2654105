// Which run folders there are, and how long and how old their journals. Private to the store.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace xlm {

/// What tells whether a journal has changed.
struct JournalStamp {
  std::int64_t bytes = -1;
  std::int64_t time = 0;

  auto operator<=>(const JournalStamp&) const = default;  // NOLINT(modernize-use-nullptr): of LLVM 14
};

struct FoundRuns {
  std::vector<std::pair<std::string, JournalStamp>> readable;
  std::vector<std::string> unreadable;  // of other users, or damaged
};

/// Run folders and their stamps, in no order. The stamp is taken before the journal is read: what is appended meanwhile
/// is seen by the next sync. Warns of those that cannot be looked into. Throws DataError if there is no such folder.
FoundRuns find_runs(const fs::path& runs);

}  // namespace xlm
