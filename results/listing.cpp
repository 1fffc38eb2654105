// Runs of the store as lists.
#include "results/listing.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

Json json_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isNull()) return nullptr;
  if (column.isBlob()) return fmt::format("{} bytes", column.getBytes());
  return column.getString();
}

std::optional<double> seconds_of(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional<double>(column.getDouble());
}

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

}  // namespace

std::vector<std::size_t> newest_first(RunSet& runs, const std::vector<Condition>& conditions) {
  const std::vector<Value>& created = runs.column("created");
  std::vector<std::pair<double, std::size_t>> by_time;
  for (const std::size_t run : runs.select(conditions)) by_time.emplace_back(-as_number(created[run]).value_or(0), run);
  std::sort(by_time.begin(), by_time.end());
  std::vector<std::size_t> selected;
  for (const auto& [time, run] : by_time) selected.push_back(run);
  return selected;
}

RunLister::RunLister(Store& store)
    : store_(store),
      run_(store.use([](SQLite::Database& database) {
        return SQLite::Statement(
            database, "SELECT experiment, status, reason, created, finished, step FROM runs WHERE run_id = ?");
      })),
      experiments_(store.use([](SQLite::Database& database) {
        return SQLite::Statement(database, "SELECT experiment FROM experiments WHERE run_id = ? ORDER BY experiment");
      })),
      params_(store.use([](SQLite::Database& database) {
        return SQLite::Statement(database, "SELECT key, value FROM params WHERE run_id = ? ORDER BY key");
      })),
      costs_(store.use([](SQLite::Database& database) {
        return SQLite::Statement(database, "SELECT name, value FROM costs WHERE run_id = ? ORDER BY name");
      })),
      evaluations_(store.use([](SQLite::Database& database) {
        return SQLite::Statement(database,
                                 "SELECT split, step, metric, value FROM evaluations WHERE run_id = ? AND main = 1 "
                                 "ORDER BY split, metric");
      })) {}

Json RunLister::values(SQLite::Statement& query, const std::string& run_id) {
  Json json = Json::object();
  query.reset();
  query.bind(1, run_id);
  while (query.executeStep()) json[query.getColumn(0).getString()] = json_of(query.getColumn(1));
  return json;
}

Json RunLister::evaluations(const std::string& run_id) {
  Json list = Json::array();
  evaluations_.reset();
  evaluations_.bind(1, run_id);
  while (evaluations_.executeStep()) {
    const std::string split = evaluations_.getColumn(0).getString();
    if (list.empty() || list.back()["split"] != split) {
      list.push_back({{"split", split}, {"step", evaluations_.getColumn(1).getInt64()}});
    }
    list.back()[evaluations_.getColumn(2).getString()] = evaluations_.getColumn(3).getDouble();
  }
  return list;
}

Json RunLister::run(const std::string& run_id) {
  return store_.use([&](SQLite::Database&) {
    Json json = {{"run_id", run_id}};
    run_.reset();
    run_.bind(1, run_id);
    if (!run_.executeStep()) return json;
    json["experiment"] = json_of(run_.getColumn(0));
    json["experiments"] = Json::array();
    experiments_.reset();
    experiments_.bind(1, run_id);
    while (experiments_.executeStep()) json["experiments"].push_back(experiments_.getColumn(0).getString());
    json["status"] = json_of(run_.getColumn(1));
    json["reason"] = json_of(run_.getColumn(2));
    json["created"] = iso_time(seconds_of(run_.getColumn(3)));
    json["finished"] = iso_time(seconds_of(run_.getColumn(4)));
    json["step"] = json_of(run_.getColumn(5));
    json["params"] = values(params_, run_id);
    json["evaluations"] = evaluations(run_id);
    json["costs"] = values(costs_, run_id);
    return json;
  });
}

Json iso_time(const std::optional<double>& seconds) {
  if (!seconds || !std::isfinite(*seconds) || std::abs(*seconds) > 1e11) return nullptr;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(*seconds)));
}

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

}  // namespace

SqlResult run_sql(Store& store, const std::string& sql) {
  return store.use([&](SQLite::Database& database) {
    try {
      const ReadingOnly only(database);
      check_single(database, sql);
      SQLite::Statement query(database, sql);
      SqlResult result;
      for (int i = 0; i < query.getColumnCount(); ++i) result.columns.emplace_back(query.getColumnName(i));
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
      throw UsageError(fmt::format("SQL: {}\ndocs/results.md lists tables and views", error.what()));
    }
  });
}

}  // namespace xlm
