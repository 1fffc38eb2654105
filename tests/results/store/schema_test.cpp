// Versions of the store: what an older one held is there in the present one.
#include "results/store/schema.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/store/store_file.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

/// A store of an older version, with a run that is there in every table of it.
void make_old_store(const fs::path& file, std::size_t version) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const auto& all = schema_versions();
  migrate(database, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(version)}, "old");
  database.exec(
      "INSERT INTO runs VALUES ('a', 'spans', 'done', NULL, 1000, 1009, 100, 'group', 5, 6),"
      " ('b', NULL, 'running', NULL, 3000, NULL, 10, 'other', 5, 6);"
      "INSERT INTO params VALUES ('a', 'model.span', 256);"
      "INSERT INTO metrics VALUES ('a', 'bpc', 50, 2.0);"
      "INSERT INTO evaluations VALUES ('a', 'test', 'bpc', 100, '{}', 1.5, 1, 1, 1008);"
      "INSERT INTO costs VALUES ('a', 'params', 38e6);"
      "INSERT INTO experiments VALUES ('a', 'spans');"
      "INSERT INTO spans VALUES ('a', 50, 1, 1, 7), ('a', 50, 1, 2, 8), ('a', 100, 1, 1, 32.5), ('a', 100, 1, 2, 40),"
      " ('a', 100, 2, 1, 33), ('b', 10, 1, 1, 3);");
  if (version >= 2) database.exec("INSERT INTO traces VALUES ('a', 'test', 'span', 1, 'x', 12)");
}

TEST_F(StoreFile, OneOfTheSecondVersionLosesNothing) {
  make_old_store(file_, 2);
  const auto ask = [](SQLite::Database& database, const std::string& sql) {
    std::vector<std::string> result;
    SQLite::Statement query(database, sql);
    while (query.executeStep()) {
      std::string line;
      for (int i = 0; i < query.getColumnCount(); ++i) {
        line += fmt::format("{}={} ", query.getColumnName(i), query.getColumn(i).getString());
      }
      result.push_back(line);
    }
    return result;
  };
  const std::vector<std::string> questions{
      "SELECT * FROM spans ORDER BY run_id, step, layer, head",
      "SELECT * FROM last_spans ORDER BY run_id, layer, head",
      "SELECT layer, max(span) AS longest FROM last_spans GROUP BY layer",
      "SELECT * FROM params",
      "SELECT * FROM metrics",
      "SELECT run_id, split, metric, step, settings, value, final, main, time FROM evaluations",
      "SELECT * FROM costs",
      "SELECT * FROM experiments",
      "SELECT * FROM traces",
      "SELECT run_id, experiment, status, created, finished, step FROM runs",
      "SELECT * FROM results"};
  std::vector<std::vector<std::string>> before;
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
    for (const std::string& sql : questions) before.push_back(ask(database, sql));
  }
  ASSERT_EQ(before[0].size(), 6);
  ASSERT_EQ(before[1].size(), 4);
  { Store store(file_); }
  SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(schema_version(database), std::ssize(schema_versions()));
  for (std::size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(ask(database, questions[i]), before[i]) << questions[i];
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM grids WHERE name = 'spans'").getInt(), 6);
}

TEST_F(StoreFile, OneOfTheFourthVersionLosesNothing) {
  make_old_store(file_, 2);
  std::vector<std::string> views{"results", "final_evaluations", "evaluation_results", "last_grids",
                                 "spans",   "last_spans"};
  for (const std::string_view table : run_tables()) views.emplace_back(table);
  std::map<std::string, std::vector<std::string>> before;
  const auto content = [&](SQLite::Database& database, const std::string& view) {
    std::vector<std::string> lines;
    SQLite::Statement query(database, "SELECT * FROM " + view);
    while (query.executeStep()) {
      std::string line;
      for (int i = 0; i < query.getColumnCount(); ++i) {
        const std::string name = query.getColumnName(i);
        if (name.starts_with("journal_")) continue;  // all are read again
        line += fmt::format("{}={}({}) ", name, query.getColumn(i).getString(), query.getColumn(i).getType());
      }
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    const auto& all = schema_versions();
    migrate(database, {all.begin(), all.begin() + 4}, "old");
    database.exec(
        "INSERT INTO metrics VALUES ('a', 'bpc', 100, 0.1), ('a', 'it''s \"odd\"', 7, -1e300), ('b', 'bpc', 3, 3);"
        "INSERT INTO evaluations VALUES ('a', 'test', 'bpc', 100, '{\"eval.batch\":1}', 2.5, 0, 0, 1010, "
        "'eval.batch=1');"
        "INSERT INTO evaluation_settings VALUES ('a', 'eval.batch=1', 'eval.batch', 1);"
        "INSERT INTO params VALUES ('a', 'seed', 1), ('a', 'data.name', 'text8'), ('b', 'seed', 2), ('b', 'init', "
        "NULL);"
        "INSERT INTO grids VALUES ('a', 'gates', 5, 1, 64, 0.5), ('a', 'gates', 5, 2, 100, 0.25);"
        "INSERT INTO traces VALUES ('a', 'test', 'span', 2, '\"', 0.5), ('a', 'test', 'span', 3, 'é', 1);");
    for (const std::string& view : views) before[view] = content(database, view);
  }
  { Store store(file_); }
  SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
  for (const std::string& view : views) {
    EXPECT_FALSE(before[view].empty()) << view;
    EXPECT_EQ(content(database, view), before[view]) << view;
  }
}

TEST_F(StoreFile, OneOfTheSecondVersionTakesInTheGridsThatItLeftOut) {
  maker_.make({.id = "a"});
  maker_.journal({.id = "a"}).append("grid", {{"step", 100}, {"name", "gates"}, {"rows", {{0.5, 0.25}}}});
  make_old_store(file_, 2);
  Store store(file_);
  const SyncReport report = store.sync(maker_.runs());
  EXPECT_EQ(report.updated, 1);
  EXPECT_THAT(rows(store, "SELECT row, column, value FROM last_grids WHERE run_id = 'a' AND name = 'gates'"),
              ElementsAre("1|1|0.5", "1|2|0.25"));
  EXPECT_EQ(rows(store, "SELECT * FROM last_spans WHERE run_id = 'a'").size(), 4);
  EXPECT_EQ(store.sync(maker_.runs()).unchanged, 1);
}

TEST_F(StoreFile, OneOfTheFifthVersionGroupsItsRunsAnew) {
  maker_.make({.id = "a"});
  const std::string group = [&] {
    Store store(file_);
    store.sync(maker_.runs());
    return rows(store, "SELECT seed_group FROM runs").front();
  }();
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    database.exec("UPDATE stored_runs SET seed_group = 'earlier'; UPDATE schema_version SET version = 5");
  }
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT seed_group FROM runs"), ElementsAre(group));
}

TEST_F(StoreFile, OneOfTheFirstVersionTakesInWhatItLeftOut) {
  const MadeRun made{.id = "a", .text = "ab"};
  maker_.make(made);
  maker_.evaluate(made, "test", 2, {{"eval.batch", 1}});
  Store present = Store::in_memory();
  present.sync(maker_.runs());
  const std::string stamp = rows(present, "SELECT journal_bytes || ', ' || journal_time FROM runs").front();
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    migrate(database, {schema_versions().front()}, "the store");
    database.exec("INSERT INTO runs VALUES ('a', 'spans', 'done', NULL, 1, 2, 100, 'group', " + stamp + ")");
  }
  Store store(file_);
  EXPECT_EQ(store.sync(maker_.runs()).updated, 1);
  EXPECT_EQ(rows(store, "SELECT * FROM traces").size(), 2);
  EXPECT_THAT(rows(store, "SELECT key, value FROM evaluation_settings"), ElementsAre("eval.batch|1"));
  EXPECT_EQ(store.sync(maker_.runs()).unchanged, 1);
  EXPECT_EQ(dump(store), dump(present));
}

TEST(Schema, AppliesTheVersionsThatAreMissing) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, {"CREATE TABLE one (a)"}, "test");
  EXPECT_EQ(schema_version(database), 1);
  database.exec("INSERT INTO one VALUES (5)");
  migrate(database, {"CREATE TABLE one (a)", "ALTER TABLE one ADD COLUMN b DEFAULT 7"}, "test");
  EXPECT_EQ(schema_version(database), 2);
  EXPECT_EQ(database.execAndGet("SELECT a + b FROM one").getInt(), 12);
}

TEST(Schema, AFailedVersionLeavesTheStoreAsItWas) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, {"CREATE TABLE one (a)"}, "test");
  EXPECT_THROW(migrate(database, {"CREATE TABLE one (a)", "CREATE TABLE two (a)", "nonsense"}, "test"),
               SQLite::Exception);
  EXPECT_EQ(schema_version(database), 1);
  EXPECT_FALSE(database.tableExists("two"));
}

}  // namespace
}  // namespace xlm
