// Runs that another tracker recorded. Its own library reads them in the user's Python (python/xlm/import_runs.py), so
// that the program itself needs no Python.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialogue.h"
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

/// The text of python/xlm/import_runs.py, which is part of the program.
std::string_view import_script();

}  // namespace xlm
