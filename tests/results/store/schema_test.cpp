// The store's tables: made once, whole or not at all.
#include "results/store/schema.h"

#include <gtest/gtest.h>

#include "tests/results/store/store_file.h"

namespace xlm {
namespace {

TEST(Schema, IsMadeInAnEmptyDatabaseAndThenLeftAlone) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  EXPECT_EQ(schema_version(database), 0);
  make_schema(database, "the store");
  EXPECT_EQ(schema_version(database), kSchemaVersion);
  database.exec("INSERT INTO stored_experiments VALUES ('spans', 1)");
  make_schema(database, "the store");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM stored_experiments").getInt(), 1);
}

TEST_F(StoreFile, EveryTableOfRunsIsThere) {
  Store store(file_);
  for (const std::string_view table : run_tables())
    EXPECT_TRUE(rows(store, fmt::format("SELECT * FROM {}", table)).empty());
  for (const std::string_view table : stored_tables())
    EXPECT_TRUE(rows(store, fmt::format("SELECT * FROM {}", table)).empty());
}

TEST(Schema, NumbersOfViewsHave64BitsInDuckDbToo) {  // which reads a view's text as its own SQL
  EXPECT_EQ(schema_sql().find("AS REAL)"), std::string_view::npos);
  EXPECT_EQ(schema_sql().find("AS INTEGER)"), std::string_view::npos);
}

}  // namespace
}  // namespace xlm
