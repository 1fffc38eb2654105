// Puts runs into the tables of the store. Private to the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Whether a key says only where and how a run was made, or follows from others: runs that differ in such keys and the
/// seed are seeds of one setting. The schema says so too (`affects_result`), which the store does not know; a test
/// compares them.
bool says_how_it_ran(std::string_view key);

/// One transaction: without `finish` nothing is written.
class RunWriter {
 public:
  /// Settings by key: as JSON text, and as they are.
  using SettingTexts = std::map<std::string_view, std::pair<std::string, const Json*>>;

  explicit RunWriter(SQLite::Database& database);

  /// All rows of the run, in place of those it had; the journal was `bytes` long and changed at `time` when it was
  /// read.
  void replace(const Run& run, std::int64_t bytes, std::int64_t time);

  void remove(const std::string& run_id);
  /// Makes a run that is running or stale the other of these, if its journal was last read up to `bytes` at `time`.
  void set_liveness(const std::string& run_id, const std::string& status, std::int64_t bytes, std::int64_t time);

  /// Forgets settings that no run has any more, and commits. To be called last.
  void finish();

 private:
  std::optional<std::int64_t> number_of(const std::string& run_id);
  void remove_rows(std::int64_t number);
  void insert_settings(const SettingTexts& settings, std::int64_t number);
  void insert_evaluation(const RunEvaluation& evaluation, std::int64_t number);

  SQLite::Database& database_;
  SQLite::Transaction transaction_;
  std::vector<SQLite::Statement> removals_;
  SQLite::Statement find_;
  SQLite::Statement settings_of_;
  SQLite::Statement forget_settings_;
  SQLite::Statement status_;
  SQLite::Statement run_;
  SQLite::Statement setting_;
  SQLite::Statement run_settings_;
  SQLite::Statement series_;
  SQLite::Statement evaluation_;
  SQLite::Statement evaluation_setting_;
  SQLite::Statement number_;
  SQLite::Statement grid_;
  SQLite::Statement trace_;
  SQLite::Statement experiment_;
  std::unordered_map<std::string, std::int64_t> written_settings_;  // what they are → their name in the store
  std::set<std::int64_t> left_settings_;                            // of rows that were removed
};

}  // namespace xlm
