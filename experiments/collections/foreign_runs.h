// Runs that another tracker recorded. Its own library reads them in the user's Python (python/xlm/import_runs.py), so
// that the program itself needs no Python.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialogue.h"
#include "base/files.h"
#include "base/json.h"

namespace xlm {

class ForeignRuns {
 public:
  /// Starts Python: XLM_PYTHON, or python3 of PATH. `request` is what python/xlm/import_runs.py documents. Throws
  /// UsageError that says which package is missing, and DataError for a place that cannot be read.
  explicit ForeignRuns(const Json& request);

  /// The next run, as python/xlm/import_runs.py documents it; nullopt after the last, which is then in `warnings`.
  /// Throws DataError for what cannot be read.
  std::optional<Json> next();

  /// What was left out, and why. Complete after the last run.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Json ask(const Json& request);

  std::unique_ptr<Dialogue> python_;
  std::vector<std::string> warnings_;
};

/// Writes runs for another tracker, which its own library does in the user's Python (python/xlm/export_runs.py), and
/// returns what was made in the folder `place`. `tables`: the folder with the runs as JSON lines, as
/// results/exports/run_tables.h writes them. Throws UsageError that says which package is missing, and DataError.
fs::path write_for_tracker(const std::string& kind, const fs::path& place, const fs::path& tables,
                           const std::vector<std::string>& costs);

/// The texts of python/xlm/import_runs.py and export_runs.py, which are part of the program.
std::string_view import_script();
std::string_view export_script();

}  // namespace xlm
