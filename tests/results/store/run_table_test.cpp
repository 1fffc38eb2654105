// Columns of the store by name, and conditions.
#include "results/store/run_table.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "results/quantities/quantities.h"
#include "results/store/run_list.h"
#include "results/store/sql_query.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class Columns : public ::testing::Test {
 protected:
  Columns() {
    maker_.make({.id = "a", .type = "fixed", .span = 64, .bpc = 1.5});
    maker_.make({.id = "b", .experiment = "other", .type = "adaptive", .span = 256, .seed = 2, .bpc = 1.25});
    maker_.make({.id = "c", .type = "adaptive", .span = 1024, .state = "running", .time = 9000});
    store_.sync(maker_.runs());
  }

  std::vector<std::string> selected(const std::vector<std::string>& filters) {
    RunTable runs(store_);
    std::vector<std::string> ids;
    for (const std::size_t run : runs.select(parse_filters(filters))) ids.push_back(runs.id(run));
    return ids;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(Columns, AreKeysEvaluationsCostsAndFields) {
  RunTable runs(store_);
  EXPECT_THAT(runs.column("model.span"),
              ElementsAre(Value(std::int64_t{64}), Value(std::int64_t{256}), Value(std::int64_t{1024})));
  EXPECT_THAT(runs.column("test.bpc"), ElementsAre(Value(1.5), Value(1.25), Value()));
  EXPECT_THAT(runs.column("valid.bpc"), ElementsAre(Value(1.4), Value(1.15), Value()));
  EXPECT_THAT(runs.column("params"), ElementsAre(Value(38.1e6), Value(38.1e6), Value()));
  EXPECT_THAT(runs.column("status"), ElementsAre(Value("done"), Value("done"), Value("running")));
  EXPECT_THAT(runs.column("run_id"), ElementsAre(Value("a"), Value("b"), Value("c")));
  EXPECT_THAT(runs.column("data.name"), ElementsAre(Value("text8"), Value("text8"), Value("text8")));
  EXPECT_THAT(runs.column("train.steps"),
              ElementsAre(Value(std::int64_t{100}), Value(std::int64_t{100}), Value(std::int64_t{100})));
}

TEST_F(Columns, OfSettingsStayThoseWhereTrainingIsEvaluated) {
  maker_.journal({.id = "a"})
      .append("evaluation", {{"step", 100},
                             {"split", "train"},
                             {"final", true},
                             {"loss", 1.0},
                             {"values", {{"bpc", 1.4}, {"steps", 7}}}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  const Value steps(std::int64_t{100});
  EXPECT_THAT(runs.column("train.steps"), ElementsAre(steps, steps, steps));
  EXPECT_FALSE(runs.is_measured("train.steps"));
  EXPECT_THAT(runs.column("train.bpc"), ElementsAre(Value(1.4), Value(), Value()));
}

TEST_F(Columns, OfDataAreMeantByTheirPathsFromHere) {
  const MadeRun run{.id = "d"};
  maker_.make(run);
  write_file(RunPaths{maker_.folder(run.id)}.config(),
             "data: {path: " + fs::absolute("data/text8").string() + "}\nseed: 1\n");
  store_.sync(maker_.runs());
  EXPECT_THAT(selected({"data.path=data/text8"}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(selected({"data.path!=./data/text8"}), ElementsAre("a", "b", "c")) << "theirs is written as it is";
}

TEST_F(Columns, MeansOfTheLastEvaluations) {
  Journal a = maker_.journal({.id = "a"});
  for (const auto& [step, bpc] : {std::pair(60, 1.5), std::pair(70, 1.45), std::pair(80, 1.48)}) {
    a.append("evaluation", RunMaker::evaluation("valid", bpc, false, step));
  }
  Json part = RunMaker::evaluation("valid", 9.0, false, 90);  // of another part of the text
  part["tokens"] = 10;
  a.append("evaluation", part);
  store_.sync(maker_.runs());
  RunTable runs(store_);
  const std::vector<Value>& three = runs.column("valid.bpc@last=3");
  EXPECT_NEAR(*as_number(three[0]), (1.45 + 1.48 + 1.4) / 3, 1e-12) << "the final one is of the same text";
  EXPECT_THAT(three, ElementsAre(_, Value(), Value())) << "b has two, c has no final one";
  EXPECT_NEAR(*as_number(runs.column("valid.bpc@last=2")[1]), (1.45 + 1.15) / 2, 1e-12);
  EXPECT_TRUE(runs.is_measured("valid.bpc@last=3"));
  EXPECT_EQ(column_label("valid.bpc@last=3"), "valid bpc, mean of the last 3");
  for (const char* wrong : {"valid.bpc@last=0", "valid.bpc@last=x", "valid.bpc@last=2@model.span=64"}) {
    EXPECT_THAT([&] { runs.column(wrong); }, ThrowsMessage<UsageError>(HasSubstr("COLUMN@last=K"))) << wrong;
  }
  EXPECT_THAT([&] { runs.column("params@last=2"); }, ThrowsMessage<UsageError>(HasSubstr("only evaluations")));
}

TEST_F(Columns, WhatWaitsHasMadeNoStep) {
  maker_.make({.id = "d", .state = "queued"});
  store_.sync(maker_.runs());
  EXPECT_THAT(RunTable(store_).column("step"),
              ElementsAre(Value(std::int64_t{100}), Value(std::int64_t{100}), Value(std::int64_t{50}), Value()));
}

TEST_F(Columns, AreMeasuredOrSet) {
  RunTable runs(store_);
  EXPECT_TRUE(runs.is_measured("test.bpc"));
  EXPECT_TRUE(runs.is_measured("step_seconds"));
  EXPECT_FALSE(runs.is_measured("model.span"));
  EXPECT_FALSE(runs.is_measured("train.steps"));
}

/// Two runs on text8 that were evaluated on pg-19 too, with a batch of 1 as well, and a third that was not.
class Elsewhere : public Columns {
 protected:
  Elsewhere() {
    for (const MadeRun& run : {MadeRun{.id = "a", .type = "fixed", .span = 64, .bpc = 1.5},
                               MadeRun{.id = "b", .type = "adaptive", .span = 256, .seed = 2, .bpc = 1.25}}) {
      const Json other = {{"data.name", "pg-19"}, {"data.fingerprint", "beef"}};
      Json other_batch = other;
      other_batch["eval.batch"] = 1;
      maker_.evaluate(run, "test", 9, other);
      maker_.evaluate(run, "test", run.bpc + 1, other);  // the newer one counts
      maker_.evaluate(run, "valid", run.bpc + 2, other);
      maker_.evaluate(run, "test", run.bpc + 3, other_batch);
      maker_.evaluate(run, "test", run.bpc + 4, {{"eval.batch", 1}});
    }
    store_.sync(maker_.runs());
  }

  /// Run and value of a column for each row that is selected.
  std::vector<std::string> shown(const std::string& column, const std::vector<std::string>& filters,
                                 const std::vector<std::string>& named = {}) {
    RunTable runs(store_);
    std::vector<std::string> lines;
    for (const std::size_t row : runs.select(parse_filters(filters), named)) {
      lines.push_back(runs.id(row) + " " + to_text(runs.column(column)[row]));
    }
    return lines;
  }
};

TEST_F(Elsewhere, AreNotMetByThoseWhoDoNotAskForThem) {
  EXPECT_THAT(shown("test.bpc", {}), ElementsAre("a 1.5", "b 1.25", "c "));
  EXPECT_THAT(shown("test.bpc", {"data.name=pg-19"}), ElementsAre()) << "no run was trained on it";
  RunTable runs(store_);
  EXPECT_EQ(runs.size(), 3U);
}

TEST_F(Elsewhere, AreRowsForThoseWhoNameWhatTheyDifferIn) {
  EXPECT_THAT(shown("test.bpc", {"at.data.name=pg-19"}), ElementsAre("a 2.5", "b 2.25"));
  EXPECT_THAT(shown("valid.bpc", {"at.data.name=pg-19"}), ElementsAre("a 3.5", "b 3.25"));
  EXPECT_THAT(shown("model.span", {"at.data.name=pg-19"}), ElementsAre("a 64", "b 256"));
  EXPECT_THAT(shown("flops_per_token", {"at.data.name=pg-19"}), ElementsAre("a 2000000", "b 2000000"));
  EXPECT_THAT(shown("test.bpc", {"at.data.name=text8"}), ElementsAre("a 1.5", "b 1.25", "c ")) << "the run's own";
  EXPECT_THAT(shown("at.data.name", {"seed=1", "status=done"}, {"at.data.name"}), ElementsAre("a text8", "a pg-19"));
  EXPECT_THAT(shown("test.bpc", {"at.data.name=pg-19", "at.eval.batch=1"}), ElementsAre("a 4.5", "b 4.25"));
  EXPECT_THAT(shown("test.bpc", {"at.eval.batch=1", "experiment=other"}), ElementsAre("b 5.25"));
}

TEST_F(Elsewhere, AreColumnsOfTheirRun) {
  EXPECT_THAT(shown("test.bpc@data.name=pg-19", {}), ElementsAre("a 2.5", "b 2.25", "c "));
  EXPECT_THAT(shown("test.bpc@data.name=pg-19@eval.batch=1", {}), ElementsAre("a 4.5", "b 4.25", "c "));
  EXPECT_THAT(shown("test.bpc@data.name=text8", {}), ElementsAre("a 1.5", "b 1.25", "c ")) << "the run's own";
  EXPECT_THAT(shown("flops_per_token@eval.batch=1", {}), ElementsAre("a 2000000", "b 2000000", "c "));
  RunTable runs(store_);
  EXPECT_TRUE(runs.is_measured("test.bpc@data.name=pg-19"));
  EXPECT_FALSE(runs.is_measured("at.data.name"));
}

TEST_F(Elsewhere, AreRefusedUnderNamesThatNobodyKnows) {
  RunTable runs(store_);
  EXPECT_THROW(runs.column("test.bpc@eval.bach=1"), UsageError);
  EXPECT_THROW(runs.column("test.bcp@eval.batch=1"), UsageError);
  EXPECT_THROW(runs.column("test.bpc@eval.batch"), UsageError);
  EXPECT_THROW(runs.column("at.test.bpc"), UsageError);
  EXPECT_THAT([&] { runs.column("at.data.nam"); }, ThrowsMessage<UsageError>(HasSubstr("did you mean 'at.data.name'")));
}

TEST_F(Elsewhere, AreListedWithTheirRun) {
  const Json run = RunLister(store_).run("a");
  EXPECT_EQ(run["evaluations"].size(), 2U);
  ASSERT_EQ(run["further_evaluations"].size(), 4U);
  EXPECT_EQ(run["further_evaluations"][0]["at"], "data.name=pg-19");
  EXPECT_EQ(run["further_evaluations"][0]["bpc"], 2.5);
}

TEST_F(Columns, OfUsualNamesMayBeEmpty) {
  RunTable runs(store_);
  EXPECT_THAT(runs.column("peak_memory"), ElementsAre(Value(), Value(), Value()));
  EXPECT_THAT(runs.column("test.word_perplexity"), ElementsAre(Value(), Value(), Value()));
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kTraining) continue;
    const std::string column = (quantity.by == ReportedBy::kRun ? "" : "test.") + quantity.name;
    EXPECT_TRUE(runs.is_measured(column)) << column;
  }
}

TEST(Values, LongListsAreShortInNarrowColumns) {
  const std::string command = R"(["python3","train.py","--lr","{lr}","--seed","{seed}"])";
  EXPECT_EQ(short_text(command), R"(["python3","train.py… ()" + sha256(command).substr(0, 8) + ")");
  EXPECT_EQ(short_text(std::string("[64, 128]")), "[64, 128]");
  EXPECT_EQ(short_text(std::string(64, 'a')), "aaaaaaaa") << "a hash";
}

TEST_F(Columns, NamesWithoutTheirBeginningGetThoseThatEndWithThem) {
  RunTable runs(store_);
  for (const auto& [name, right] : std::map<std::string, std::string>{
           {"span", "'model.span'?"}, {"lr", "'optimizer.lr'?"}, {"bpc", "'test.bpc' or 'valid.bpc'?"}}) {
    const std::string& wrong = name;
    EXPECT_THAT([&] { runs.column(wrong); }, ThrowsMessage<UsageError>(HasSubstr("did you mean " + right))) << wrong;
  }
}

TEST_F(Columns, ShortNamesGetTheWholeOnes) {
  const MadeRun run{.id = "d"};
  maker_.make(run);
  Json record = RunMaker::evaluation("valid", 2);
  record["values"]["perplexity"] = 4.0;
  maker_.journal(run).append("evaluation", record);
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT([&] { runs.column("valid.ppl"); },
              ThrowsMessage<UsageError>(HasSubstr("'valid.ppl' (did you mean 'valid.perplexity'?)")));
  EXPECT_THAT([&] { runs.column("valid.acc"); }, ThrowsMessage<UsageError>(Not(HasSubstr("accuracy"))));
}

TEST_F(Columns, UnknownNamesGetTheNearestRightOne) {
  RunTable runs(store_);
  for (const auto& [name, right] : std::map<std::string, std::string>{
           {"model.spam", "model.span"}, {"test.bcp", "test.bpc"}, {"flops_per_tokn", "flops_per_token"}}) {
    const std::string& wrong = name;
    EXPECT_THAT([&] { runs.column(wrong); }, ThrowsMessage<UsageError>(HasSubstr("did you mean '" + right + "'?")))
        << wrong;
  }
  EXPECT_THAT(runs.column_or_nothing("model.spam"), ElementsAre(Value(), Value(), Value()));
}

TEST_F(Columns, OfAnEmptyStoreAreAllKnown) {
  Store empty = Store::in_memory();
  RunTable runs(empty);
  EXPECT_TRUE(runs.column("anything.at.all").empty());
}

TEST_F(Columns, ConditionsSelectRuns) {
  EXPECT_THAT(selected({}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(selected({"model.span=64,256"}), ElementsAre("a", "b"));
  EXPECT_THAT(selected({"model.span!=64"}), ElementsAre("b", "c"));
  EXPECT_THAT(selected({"model.span>64", "model.span<=256"}), ElementsAre("b"));
  EXPECT_THAT(selected({"model.span>=64,model.span_type=adaptive"}), ElementsAre("b", "c"));
  EXPECT_THAT(selected({"test.bpc<1.3"}), ElementsAre("b"));
  EXPECT_THAT(selected({"test.bpc=null"}), ElementsAre("c"));
  EXPECT_THAT(selected({"status=done", "optimizer.lr = 0.07"}), ElementsAre("a", "b"));
  EXPECT_THAT(selected({"train.tf32=false"}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(selected({"model.span=7"}), ElementsAre());
}

TEST_F(Columns, ConditionsOnExperimentsSeeAllThatARunBelongsTo) {
  maker_.journal({.id = "a"}, 0).append("experiment", {{"name", "other"}});
  store_.sync(maker_.runs());
  EXPECT_THAT(selected({"experiment=other"}), ElementsAre("a", "b"));
  EXPECT_THAT(selected({"experiment=spans"}), ElementsAre("a", "c"));
  EXPECT_THAT(selected({"experiment!=other"}), ElementsAre("c"));
}

TEST_F(Columns, MalformedConditionsAreRefused) {
  for (const char* wrong : {"model.span", "=5", "model.span<large", "model.span<1,2", "model.span!5"}) {
    EXPECT_THROW(parse_filters({wrong}), UsageError) << wrong;
  }
}

TEST_F(Columns, ConditionsFromYaml) {
  const Yaml where =
      parse_yaml("model.span: [64, 256]\nseed: '<= 1'\nmodel.span_type: '!=dynamic'\n", "description.yaml");
  RunTable runs(store_);
  EXPECT_THAT(runs.select(read_filters(where)), ElementsAre(0));
  EXPECT_TRUE(read_filters(Yaml()).empty());
  for (const char* wrong : {"[1, 2]", "{seed: {a: b}}", "{seed: '< many'}"}) {
    EXPECT_THROW(read_filters(parse_yaml(wrong, "description.yaml")), UsageError) << wrong;
  }
}

TEST(Values, AreReadAndWrittenLikeAConfiguration) {
  EXPECT_EQ(to_value("512"), Value(std::int64_t{512}));
  EXPECT_EQ(to_value("0.5"), Value(0.5));
  EXPECT_EQ(to_value("adaptive"), Value("adaptive"));
  EXPECT_EQ(to_value("[2, 8, 2]"), Value("[2,8,2]"));
  EXPECT_EQ(to_value("null"), Value());
  EXPECT_EQ(to_text(0.07), "0.07");
  EXPECT_EQ(to_text(2e-6), "2e-06");
  EXPECT_TRUE(same_value(std::int64_t{2}, 2.0));
  EXPECT_TRUE(value_less(std::int64_t{10}, "a"));
}

TEST(Values, ListsInConditionsKeepTheirCommas) {
  const std::vector<Filter> filters = parse_filters({"model.layers=[2,8,2],[1,1,1]"});
  ASSERT_EQ(filters.size(), 1);
  EXPECT_THAT(filters[0].values,
              ElementsAre(Field(&AskedValue::value, Value("[2,8,2]")), Field(&AskedValue::value, Value("[1,1,1]"))));
}

TEST_F(Columns, ListingIsNewestFirst) {
  RunTable runs(store_);
  EXPECT_EQ(newest_first(runs, {}).front(), 2);
}

TEST_F(Columns, ListingHasTheDocumentedFields) {
  const Json run = RunLister(store_).run("b");
  for (const char* field : {"run_id", "experiment", "status", "created", "finished", "params", "evaluations"}) {
    EXPECT_TRUE(run.contains(field)) << field;
  }
  EXPECT_EQ(run["params"]["model.span"], 256);
  EXPECT_EQ(run["created"], "1970-01-01T00:16:40.000000Z");
  EXPECT_EQ(run["evaluations"][0]["split"], "test");
  EXPECT_EQ(run["evaluations"][0]["bpc"], 1.25);
  EXPECT_EQ(RunLister(store_).run("c")["finished"], nullptr);
}

TEST_F(Columns, SqlReadsOnly) {
  const fs::path file = temporary_.path() / "results.db";
  Store(file).sync(maker_.runs());
  Store store = Store::open_read_only(file);
  const SqlResult result = run_sql(store, "SELECT run_id, 1.5, NULL FROM runs ORDER BY run_id;  -- that is all");
  EXPECT_THAT(result.columns, ElementsAre("run_id", "1.5", "NULL"));
  ASSERT_EQ(result.rows.size(), 3);
  EXPECT_THAT(result.rows[0], ElementsAre(Json("a"), Json(1.5), Json()));
  for (const char* wrong : {"DELETE FROM runs", "DROP TABLE runs", "SELECT nothing FROM runs", "SELECT 1; SELECT 2", "",
                            " ", "SELEKT", "INSERT INTO experiments VALUES ('a', 'b')"}) {
    EXPECT_THROW(run_sql(store, wrong), UsageError) << wrong;
  }
}

TEST_F(Columns, OfOneNameInSqlAreToldApartHoweverMany) {
  Store store = Store::in_memory();
  EXPECT_THAT(run_sql(store, "SELECT 1 AS a, 2 AS a_2, 3 AS a, 4 AS a, 5 AS b").columns,
              ElementsAre("a", "a_2", "a_3", "a_4", "b"));
  std::string sql = "SELECT 0 AS a";
  for (int i = 1; i < 2000; ++i) sql += ", 0 AS a";  // as many as SQLite has
  const std::vector<std::string> columns = run_sql(store, sql).columns;
  EXPECT_EQ(std::set<std::string>(columns.begin(), columns.end()).size(), 2000U);
  EXPECT_EQ(columns.back(), "a_2000");
  for (const char* repeated : {"(", "-", "not ", ";", "1 union all select ", "(select "}) {
    sql = "SELECT ";
    for (int i = 0; i < 50'000; ++i) sql += repeated;
    EXPECT_THROW(run_sql(store, sql + "1"), UsageError) << repeated;
  }
}

}  // namespace
}  // namespace xlm
