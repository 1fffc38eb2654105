// Puts runs of another tracker into a folder of runs, a folder for each.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/staged_folder.h"

namespace xlm {

enum class ImportOutcome { kAdded, kGrown, kSame, kConflict };
inline constexpr std::array<std::string_view, 4> kImportOutcomes{"added", "grown", "same", "conflict"};

struct ImportedRun {
  std::string id;
  ImportOutcome outcome = ImportOutcome::kAdded;
  std::string note;  // why it is a conflict, or what was left out
};

class RunImport {
 public:
  explicit RunImport(fs::path runs);

  /// Takes in a run as python/xlm/import_runs.py describes it. A run that is there already gains the numbers and the
  /// settings that it does not have; if others have changed or are gone, that is a conflict, and it stays as it is. New
  /// runs appear in the folder at the latest with `finish`.
  ImportedRun take(const Json& foreign);
  void finish();

 private:
  ImportedRun update(const std::string& id, const Json& foreign) const;
  std::string write(const std::string& id, const Json& foreign);  // returns what was left out

  fs::path runs_;
  std::unique_ptr<StagedFolder> staged_;
  std::vector<std::string> written_;  // into the staged folder
};

}  // namespace xlm
