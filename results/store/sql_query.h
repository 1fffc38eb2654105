// One reading SQL statement on the store, for people who ask what no command does.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/store/store.h"

namespace xlm {

/// The value of a column of the present row: a number, text or null. A blob is only counted: "12 bytes".
Json json_of(const SQLite::Column& column);

struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;  // numbers, text or null
};

/// Runs one reading statement on a store that was opened for reading. Throws UsageError for anything else: wrong SQL,
/// more than one statement, or one that writes.
SqlResult run_sql(Store& store, const std::string& sql);

}  // namespace xlm
