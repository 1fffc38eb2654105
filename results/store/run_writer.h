// Puts runs into the tables of the store. Private to the store: made and used within one transaction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Whether a key says only where a run was made: runs that differ in such keys and the seed are seeds of one setting.
bool says_where_it_ran(std::string_view key);

class RunWriter {
 public:
  explicit RunWriter(SQLite::Database& database);

  /// All rows of the run, in place of those it had; the journal was `bytes` long and changed at `time` when it was
  /// read.
  void replace(const Run& run, std::int64_t bytes, std::int64_t time);

  void remove(const std::string& run_id);
  void set_status(const std::string& run_id, const std::string& status);

 private:
  void insert_run(const Run& run, std::int64_t bytes, std::int64_t time);
  void insert_params(const Run& run);
  void insert_metrics(const Run& run);
  void insert_evaluations(const Run& run);
  void insert_grids(const Run& run);
  void insert_grid(const std::string& run_id, const std::string& name, std::int64_t step, const RunGrid& grid);
  void insert_traces(const Run& run);

  std::vector<SQLite::Statement> removals_;
  SQLite::Statement status_;
  SQLite::Statement run_;
  SQLite::Statement param_;
  SQLite::Statement metric_;
  SQLite::Statement evaluation_;
  SQLite::Statement setting_;
  SQLite::Statement cost_;
  SQLite::Statement grid_;
  SQLite::Statement trace_;
  SQLite::Statement experiment_;
};

}  // namespace xlm
