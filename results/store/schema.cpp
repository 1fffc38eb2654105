// The store's tables and views.
#include "results/store/schema.h"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

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

void check_version(const SQLite::Database& database, std::string_view name) {
  const std::int64_t version = schema_version(database);
  if (version == kSchemaVersion) return;
  throw DataError(
      fmt::format("{} was written by another version of xlm: its store version is {}, this program's is {}\n"
                  "`xlm runs sync --rebuild` makes it again from the run folders; --store FILE names another store",
                  name, version, kSchemaVersion));
}

namespace {

/// Views hold no data: those of a store that an earlier program made are made again as they are now.
void renew_views(SQLite::Database& database) {
  constexpr std::string_view kView = "CREATE VIEW ";
  const std::string_view schema = schema_sql();
  for (std::size_t at = schema.find(kView); at != std::string_view::npos; at = schema.find(kView, at + 1)) {
    const std::string text(schema.substr(at, schema.find(';', at) - at));
    const std::string name = text.substr(kView.size(), text.find(' ', kView.size()) - kView.size());
    SQLite::Statement known(database, "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?");
    known.bind(1, name);
    if (known.executeStep() && known.getColumn(0).getString() == text) continue;
    known.reset();
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec("DROP VIEW IF EXISTS " + name);
    database.exec(text);
    transaction.commit();
  }
}

}  // namespace

void make_schema(SQLite::Database& database, std::string_view name) {
  if (schema_version(database) == 0) {
    // Another process may be doing the same: look again once the store is locked.
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    if (schema_version(database) == 0) {
      database.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
      database.exec(std::string(schema_sql()));
      database.exec(fmt::format("INSERT INTO schema_version VALUES ({})", kSchemaVersion));
    }
    transaction.commit();
  }
  check_version(database, name);
  renew_views(database);
}

}  // namespace xlm
