// A store next to run folders, for tests, and all that is in one.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "results/store/schema.h"
#include "results/store/store.h"
#include "tests/results/run_maker.h"

namespace xlm {

/// All rows of a query, cells joined by bars.
inline std::vector<std::string> rows(Store& store, const std::string& sql) {
  return store.use([&](SQLite::Database& database) {
    std::vector<std::string> result;
    SQLite::Statement query(database, sql);
    while (query.executeStep()) {
      std::string line;
      for (int i = 0; i < query.getColumnCount(); ++i) line += (i > 0 ? "|" : "") + query.getColumn(i).getString();
      result.push_back(line);
    }
    return result;
  });
}

/// All columns of a stored table, with runs by their ids: their numbers depend on which came first.
inline std::string by_run_id(Store& store, const std::string& table) {
  std::string columns;
  for (const std::string& column : rows(store, "SELECT name FROM pragma_table_info('" + table + "')")) {
    columns += columns.empty() ? "" : ", ";
    columns +=
        column == "number" ? "(SELECT run_id FROM stored_runs r WHERE r.number = t.number)" : "\"" + column + "\"";
  }
  return "SELECT " + columns + " FROM " + table + " t";
}

/// What may be asked for rows of a run, by a column run_id: views, behind which lie the stored tables.
inline const std::vector<std::string_view>& run_tables() {
  static const std::vector<std::string_view> tables{"runs",  "params", "metrics",     "evaluations",        "costs",
                                                    "grids", "traces", "experiments", "evaluation_settings"};
  return tables;
}

/// Everything in a store, in a fixed order.
inline std::vector<std::string> dump(Store& store) {
  std::vector<std::string> all = rows(store, "SELECT type, name, sql FROM sqlite_master ORDER BY name");
  std::vector<std::string> tables(run_tables().begin(), run_tables().end());
  tables.insert(tables.end(), stored_tables().begin(), stored_tables().end());
  tables.insert(tables.end(), {"stored_settings", "schema_version"});
  for (const std::string& table : tables) {
    std::vector<std::string> lines = rows(store, by_run_id(store, table));
    std::sort(lines.begin(), lines.end());
    all.push_back("== " + table);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

class StoreFile : public ::testing::Test {
 protected:
  std::string error_of(const std::function<void()>& work, ExitCode code) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  fs::path file_ = temporary_.path() / "runs" / "results.db";
};

}  // namespace xlm
