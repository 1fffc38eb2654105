// What a run takes from another copy of it.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// What a run takes from its other folder besides records, as paths within the folder.
struct RunNews {
  std::vector<fs::path> before;   // put in place before the journal, whose records mention them
  std::vector<fs::path> after;    // newer checkpoints: without the records before them the resumed run would have a gap
  std::vector<fs::path> state;    // of a program: replaces, together with the journal, whole parts of the run
  std::vector<fs::path> dropped;  // parts of a program's state that the other copy does not have

  bool empty() const { return before.empty() && after.empty() && state.empty() && dropped.empty(); }
  /// "its model": the parts that are taken without new records. "" for none.
  std::string note() const;
};

/// What `to` lacks of what `from` has. `further`: the run's records are taken from there, with all files that describe
/// its course. Checkpoints of a model are compared separately, because either folder may be packed without them. Older
/// ones of `to` stay until the run saves again: a newer one may be damaged.
RunNews news_of(const fs::path& from, const fs::path& to, bool further);

/// Whether a folder of checkpoints holds any file.
bool has_checkpoint_files(const fs::path& run);

}  // namespace xlm
