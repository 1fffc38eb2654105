// One reading SQL statement on the store.
#include "results/store/sql_query.h"

#include <sqlite3.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// What a question needs; attaching, writing and settings are no questions.
int allow_reading(void* /*nothing*/, int action, const char* /*a*/, const char* /*b*/, const char* /*c*/,
                  const char* /*d*/) {
  const bool reads =
      action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

/// Only reading is allowed while it lives.
class ReadingOnly {
 public:
  explicit ReadingOnly(SQLite::Database& database) : database_(&database) {
    ::sqlite3_set_authorizer(database.getHandle(), allow_reading, nullptr);
  }
  ReadingOnly(const ReadingOnly&) = delete;
  ReadingOnly& operator=(const ReadingOnly&) = delete;
  ~ReadingOnly() { ::sqlite3_set_authorizer(database_->getHandle(), nullptr, nullptr); }

 private:
  SQLite::Database* database_;
};

/// The statement alone: SQLite would silently leave out whatever follows the first.
void check_single(SQLite::Database& database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v2(database.getHandle(), sql.c_str(), static_cast<int>(sql.size()), &statement, &rest);
  const bool empty = statement == nullptr;
  sqlite3_finalize(statement);
  if (code != SQLITE_OK) return;  // the caller's own attempt gives the message
  if (empty) throw UsageError("there is no SQL statement");
  std::string_view tail = trim(rest);
  while (tail.starts_with(';')) tail = trim(tail.substr(1));
  if (!tail.empty() && !tail.starts_with("--")) throw UsageError("give one SQL statement at a time");
}

/// Of columns with one name the second gets "_2", as each is a key of the rows in JSON.
class ColumnNames {
 public:
  std::string own(const std::string& name) {
    int& count = counts_[name];  // each is looked at once, however many have the name
    std::string own = count == 0 ? name : fmt::format("{}_{}", name, count + 1);
    while (!taken_.insert(own).second) own = fmt::format("{}_{}", name, ++count + 1);
    ++count;
    return own;
  }

 private:
  std::map<std::string, int> counts_;
  std::set<std::string> taken_;
};

}  // namespace

Json json_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isNull()) return nullptr;
  if (column.isBlob()) return fmt::format("{} bytes", column.getBytes());
  return column.getString();
}

SqlResult run_sql(Store& store, const std::string& sql) {
  return store.use([&](SQLite::Database& database) {
    try {
      const ReadingOnly only(database);
      check_single(database, sql);
      SQLite::Statement query(database, sql);
      SqlResult result;
      ColumnNames names;
      for (int i = 0; i < query.getColumnCount(); ++i) result.columns.push_back(names.own(query.getColumnName(i)));
      while (query.executeStep()) {
        std::vector<Json>& row = result.rows.emplace_back();
        for (int i = 0; i < query.getColumnCount(); ++i) row.push_back(json_of(query.getColumn(i)));
      }
      return result;
    } catch (const SQLite::Exception& error) {
      if (error.getErrorCode() == SQLITE_READONLY || error.getErrorCode() == SQLITE_AUTH) {
        throw UsageError("`xlm runs sql` only reads: the run folders are the truth, and the store follows them");
      }
      if (error.getErrorCode() != SQLITE_ERROR) throw;
      throw UsageError(fmt::format("SQL: {}\ndocs/store.md lists tables and views", error.what()));
    }
  });
}

}  // namespace xlm
