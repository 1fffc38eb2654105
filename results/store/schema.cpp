// The store's tables and views.
#include "results/store/schema.h"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

const std::vector<std::string_view>& run_tables() {
  static const std::vector<std::string_view> tables{"runs",  "params", "metrics",     "evaluations",        "costs",
                                                    "grids", "traces", "experiments", "evaluation_settings"};
  return tables;
}

const std::vector<std::string_view>& stored_tables() {
  static const std::vector<std::string_view> tables{
      "stored_runs",    "stored_run_settings", "stored_series", "stored_evaluations", "stored_evaluation_settings",
      "stored_numbers", "stored_grids",        "stored_traces", "stored_experiments"};
  return tables;
}

std::int64_t schema_version(const SQLite::Database& database) {
  // In this order: where another process makes the store between the two looks, the first has found nothing.
  std::string held;
  {
    SQLite::Statement first(database, "SELECT name FROM sqlite_master LIMIT 1");
    if (!first.executeStep()) return 0;
    held = first.getColumn(0).getString();
  }
  if (database.tableExists("schema_version")) {
    SQLite::Statement query(database, "SELECT max(version) FROM schema_version");
    if (query.executeStep() && query.getColumn(0).isInteger()) return query.getColumn(0).getInt64();
  }
  throw DataError(
      fmt::format("{} is an SQLite file, but not a store of results (it holds '{}')\n"
                  "name another file with --store",
                  database.getFilename(), held));
}

void refuse_newer(std::int64_t version, std::int64_t newest, std::string_view name) {
  if (version <= newest) return;
  throw DataError(
      fmt::format("{} was written by a newer xlm (store version {}, this program knows up to {})\n"
                  "use that xlm, or name another store with --store",
                  name, version, newest));
}

void migrate(SQLite::Database& database, const std::vector<std::string_view>& versions, std::string_view name) {
  const auto newest = static_cast<std::int64_t>(versions.size());
  const std::int64_t present = schema_version(database);
  refuse_newer(present, newest, name);
  if (present == newest) return;
  // Another process may be doing the same: look again once the store is ours.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const std::int64_t version = schema_version(database);
  refuse_newer(version, newest, name);
  if (version == 0) database.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
  for (std::int64_t v = version; v < newest; ++v) {
    database.exec(std::string(versions[static_cast<std::size_t>(v)]));
  }
  database.exec("DELETE FROM schema_version");
  database.exec(fmt::format("INSERT INTO schema_version VALUES ({})", newest));
  transaction.commit();
}

}  // namespace xlm
