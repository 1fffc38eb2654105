// Runs of the store as lists, for people and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/query.h"

namespace xlm {

/// Positions of the runs that fulfil `conditions`, newest first.
std::vector<std::size_t> newest_first(RunSet& runs, const std::vector<Condition>& conditions);

/// One run of `xlm runs ls --json`: {"run_id", "experiment", "experiments", "status", "reason", "created", "finished",
/// "step", "params": {key: value}, "evaluations": [{"split", "step", metric: value, …}], "costs"}.
class RunLister {
 public:
  explicit RunLister(Store& store);

  Json run(const std::string& run_id);

 private:
  Json values(SQLite::Statement& query, const std::string& run_id);
  Json evaluations(const std::string& run_id);

  Store& store_;
  SQLite::Statement run_;
  SQLite::Statement experiments_;
  SQLite::Statement params_;
  SQLite::Statement costs_;
  SQLite::Statement evaluations_;
};

/// "2025-11-21T09:30:00Z"; null for nothing.
Json iso_time(const std::optional<double>& seconds);

/// Result of one SQL statement.
struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;  // numbers, text or null
};

/// Runs one reading statement on a store that was opened for reading. Throws UsageError for anything else: wrong SQL,
/// more than one statement, or one that writes.
SqlResult run_sql(Store& store, const std::string& sql);

}  // namespace xlm
