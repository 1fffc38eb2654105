// What is packed in the store comes out of its views as it was.
#include "results/store/packed_values.h"

#include <bit>
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/results/store/store_file.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

TEST_F(StoreFile, NumbersComeBackToTheLastBit) {
  std::map<std::int64_t, double> written;
  const MadeRun made{.id = "a"};
  maker_.make(made);
  Journal journal = maker_.journal(made);
  for (std::int64_t step = 1; step <= 2000; ++step) {
    const double value = std::bit_cast<double>(random_bits(3, 1, static_cast<std::uint64_t>(step)));
    if (!std::isfinite(value)) continue;
    written[step] = value;
    journal.append("metric", {{"step", step}, {"values", {{"odd", value}}}});
  }
  Store store(file_);
  store.sync(maker_.runs());
  store.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT step, value FROM metrics WHERE run_id = 'a' AND name = 'odd'");
    std::map<std::int64_t, double> found;
    while (query.executeStep()) found[query.getColumn(0).getInt64()] = query.getColumn(1).getDouble();
    EXPECT_EQ(found, written);
  });
}

TEST_F(StoreFile, NamesMayHoldAnything) {
  const MadeRun made{.id = "a"};
  maker_.make(made);
  const std::vector<std::string> names{"a.b",  "it's", "\"quoted\"", "back\\slash", "é", "a b",
                                       "$[0]", "[1]",  "",           "new\nline"};
  for (const std::string& name : names) {
    maker_.journal(made).append("metric", {{"step", 1}, {"values", {{name, 0.5}}}});
    Json evaluation = RunMaker::evaluation("test", 1.25);
    evaluation["values"] = {{name, 0.25}};
    maker_.journal(made).append("evaluation", evaluation);
    maker_.journal(made).append("costs", {{"values", {{name, 0.75}}}});
    Store store(file_);
    store.sync(maker_.runs());
    store.use([&](SQLite::Database& database) {
      for (const auto& [sql, value] :
           {std::pair("SELECT value FROM metrics WHERE name = ?", 0.5),
            std::pair("SELECT value FROM evaluations WHERE main = 1 AND metric = ?", 0.25),
            std::pair("SELECT value FROM costs WHERE name = ?", 0.75),
            std::pair("SELECT value FROM stored_numbers WHERE split = 'test' AND name = ?", 0.25)}) {
        SQLite::Statement query(database, sql);
        query.bind(1, name);
        ASSERT_TRUE(query.executeStep()) << sql << " " << name;
        EXPECT_EQ(query.getColumn(0).getDouble(), value) << sql << " " << name;
        EXPECT_FALSE(query.executeStep()) << sql << " " << name;
      }
    });
  }
}

TEST_F(StoreFile, KeepsSettingsOnceAndForgetsThoseThatNoRunHas) {
  for (const int seed : {1, 2, 3}) maker_.make({.id = fmt::format("run-{}", seed), .seed = seed});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT key, count(*) FROM params WHERE key IN ('seed', 'model.span') GROUP BY key"),
              ElementsAre("model.span|3", "seed|3"));
  EXPECT_THAT(rows(store, "SELECT key, count(*) FROM stored_settings WHERE key IN ('seed', 'model.span') GROUP BY key"),
              ElementsAre("model.span|1", "seed|3"));
  store.remove("run-2");
  EXPECT_THAT(rows(store, "SELECT value FROM stored_settings WHERE key = 'seed' ORDER BY 1"), ElementsAre("1", "3"));
  maker_.write_config({.id = "run-1", .span = 512, .seed = 4});
  maker_.journal({.id = "run-1"}).append("message", {{"text", "something new"}});
  fs::remove_all(maker_.folder("run-2"));
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT value FROM stored_settings WHERE key = 'seed' ORDER BY 1"), ElementsAre("3", "4"));
  EXPECT_THAT(rows(store, "SELECT value FROM params WHERE key = 'model.span' ORDER BY run_id"),
              ElementsAre("512", "256"));
  for (const int seed : {1, 3}) fs::remove_all(maker_.folder(fmt::format("run-{}", seed)));
  store.sync(maker_.runs());
  for (const std::string_view table : stored_tables()) {
    EXPECT_THAT(rows(store, "SELECT * FROM " + std::string(table)), ElementsAre()) << table;
  }
  EXPECT_THAT(rows(store, "SELECT * FROM stored_settings"), ElementsAre());
}

TEST_F(StoreFile, HoldsGridsOfAnyNameAndShape) {
  maker_.make({.id = "a"});
  maker_.journal({.id = "a"}).append("grid", {{"step", 90}, {"name", "gates"}, {"rows", {{1, 2}, {3, 4}}}});
  maker_.journal({.id = "a"}).append("grid", {{"step", 95}, {"name", "gates"}, {"rows", {{0.5, nullptr, 1}, {2}}}});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT step, row, column, value FROM last_grids WHERE name = 'gates'"),
              ElementsAre("95|1|1|0.5", "95|1|3|1.0", "95|2|1|2.0"));
  EXPECT_EQ(rows(store, "SELECT * FROM grids WHERE name = 'gates' AND step = 90").size(), 4);
  EXPECT_EQ(rows(store, "SELECT * FROM spans").size(), 4) << "those alone";
}

TEST_F(StoreFile, ColumnsOfAGridAreWhatTheyStandFor) {
  maker_.make({.id = "a"});
  maker_.journal({.id = "a"})
      .append("grid",
              {{"step", 100}, {"name", "attention"}, {"rows", {{0.5, nullptr}, {0.25, 0.75}}}, {"columns", {64, 100}}});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT row, column, value FROM last_grids WHERE name = 'attention'"),
              ElementsAre("1|64|0.5", "2|64|0.25", "2|100|0.75"));
}

TEST_F(StoreFile, HoldsWhatAModelSaysOfATextsTokens) {
  maker_.make({.id = "a", .seed = 2, .text = "a b"});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT * FROM traces"),
              ElementsAre("a|test|span|1|a|12.0", "a|test|span|2| |22.0", "a|test|span|3|b|32.0"));
}

}  // namespace
}  // namespace xlm
