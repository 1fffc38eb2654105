// The store: what it takes in of run folders, and when.
#include "results/store/store.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/run_folder/remark.h"
#include "results/store/run_list.h"
#include "results/store/run_table.h"
#include "tests/results/store/store_file.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(StoreFile, HoldsWhatTheRunFoldersHold) {
  maker_.make({.id = "a", .span = 512, .seed = 2, .bpc = 1.25, .flops = 3e6});
  Store store(file_);
  const SyncReport report = store.sync(maker_.runs());
  EXPECT_EQ(report.added, 1);
  EXPECT_THAT(rows(store, "SELECT run_id, experiment, status, step FROM runs"), ElementsAre("a|spans|done|100"));
  EXPECT_THAT(rows(store, "SELECT value FROM params WHERE key = 'model.span'"), ElementsAre("512"));
  EXPECT_THAT(rows(store, "SELECT value, typeof(value) FROM params WHERE key = 'train.tf32'"),
              ElementsAre("false|text"));
  EXPECT_THAT(rows(store, "SELECT step, value FROM metrics WHERE name = 'bpc'"), ElementsAre("50|1.75", "100|1.25"));
  EXPECT_THAT(rows(store, "SELECT name, value FROM final_evaluations WHERE name LIKE 'test.%' ORDER BY name LIMIT 2"),
              ElementsAre("test.average_span|40.0", "test.bpc|1.25"));
  EXPECT_THAT(rows(store, "SELECT layer, head, span FROM last_spans"),
              ElementsAre("1|1|32.0", "1|2|40.0", "2|1|33.0", "2|2|512.0"));
  EXPECT_THAT(rows(store, "SELECT model, data, seed, test_bpc, flops_per_token FROM results"),
              ElementsAre("adaptive-span|text8|2|1.25|3000000.0"));
}

TEST_F(StoreFile, ANumberThatAnEarlierEvaluationSaysIsAColumn) {
  maker_.make({.id = "a"});
  maker_.make_of_program("a");
  Journal journal = maker_.journal({.id = "a"});
  journal.append("evaluation", {{"split", "test"}, {"step", 50}, {"final", true}, {"values", {{"acc", 0.5}}}});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_EQ(as_number(RunTable(store).column("test.acc")[0]), 0.5);
  EXPECT_EQ(as_number(RunTable(store).column("test.bpc")[0]), 1.5);
  EXPECT_EQ(RunLister(store).run("a")["evaluations"][0]["bpc"], 1.5);
  EXPECT_THAT(rows(store, "SELECT step FROM evaluations WHERE metric = 'acc'"), ElementsAre("50"));
  journal.append("evaluation", {{"split", "test"}, {"step", 60}, {"final", true}, {"values", {{"acc", 0.75}}}});
  store.sync(maker_.runs());
  EXPECT_EQ(as_number(RunTable(store).column("test.acc")[0]), 0.75);
  store.remove("a");
  EXPECT_THAT(rows(store, "SELECT count(*) FROM stored_numbers"), ElementsAre("0"));
}

TEST_F(StoreFile, ASettingAndANumberOfOneNameAreOneColumnTheSetting) {
  maker_.make({.id = "a"});
  maker_.journal({.id = "a"})
      .append("evaluation", {{"split", "train"}, {"step", 50}, {"final", true}, {"values", {{"steps", 5}}}});
  Store store(file_);
  store.sync(maker_.runs());
  RunTable runs(store);
  EXPECT_EQ(std::ranges::count(runs.column_names(), "train.steps"), 1);
  EXPECT_EQ(as_number(runs.column("train.steps")[0]), 100);
}

TEST_F(StoreFile, SpansAreThoseOfTheWeightsThatBecameTheModel) {
  const MadeRun made{.id = "a"};
  maker_.write_config(made);
  Journal journal = maker_.journal(made);
  for (const std::int64_t step : {50, 100}) {
    journal.append("grid", {{"step", step}, {"name", "spans"}, {"rows", {{step + 1, step + 2}, {1, 2}}}});
    journal.append("evaluation", RunMaker::evaluation("valid", 1.5, false, step));
  }
  EXPECT_EQ(read_run(maker_.folder("a")).last_grid("spans")->rows.front().front(), 101);
  {
    Store store(file_);
    store.sync(maker_.runs());
    EXPECT_THAT(rows(store, "SELECT step, span FROM last_spans"),
                ElementsAre("100|101.0", "100|102.0", "100|1.0", "100|2.0"));
  }
  for (const char* split : {"valid", "test"}) journal.append("evaluation", RunMaker::evaluation(split, 1.4, true, 50));
  EXPECT_EQ(read_run(maker_.folder("a")).last_grid("spans")->rows.front().front(), 51);
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT step, span FROM last_spans"), ElementsAre("50|51.0", "50|52.0", "50|1.0", "50|2.0"));
}

TEST_F(StoreFile, KeepsEvaluationsOnOtherDataApartFromTheRunsOwn) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun made{.id = fmt::format("run-{}", seed), .seed = seed, .bpc = 1 + 0.01 * seed};
    maker_.make(made);
    maker_.evaluate(made, "test", 2 + 0.1 * seed, {{"data.name", "pg-19"}, {"data.fingerprint", "beef"}});
  }
  const MadeRun measured{.id = "eval-gpt2-text8-1", .experiment = "spans"};
  maker_.make(measured);
  write_file(RunPaths{maker_.folder(measured.id)}.environment(),
             Json{{"dataset", "text8"}, {"fingerprint", "f00d"}, {"model_sha256", "abc"}}.dump());
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT count(*) FROM results"), ElementsAre("3")) << "a measured folder is no run";
  EXPECT_THAT(rows(store, "SELECT runs, round(test_bpc, 6) FROM seeds"), ElementsAre("3|1.02"));
  EXPECT_THAT(
      rows(store,
           "SELECT name, runs, round(mean, 6), round(sd, 6), run_ids FROM evaluation_seeds "
           "WHERE split = 'test' AND metric = 'bpc' ORDER BY name"),
      ElementsAre("test.bpc|3|1.02|0.01|run-1 run-2 run-3", "test.bpc@data.name=pg-19|3|2.2|0.1|run-1 run-2 run-3"));
  EXPECT_THAT(rows(store,
                   "SELECT run_id, value FROM evaluation_results WHERE metric = 'bpc' AND split = 'test' AND "
                   "run_id LIKE 'eval-%'"),
              ElementsAre("eval-gpt2-text8-1|1.5"));
}

TEST_F(StoreFile, ViewsOverSeedsLeaveBadRunsOut) {
  maker_.make_sweep({"fixed"}, {256}, {1, 2, 3});
  append_remark(fs::directory_iterator(maker_.runs())->path(), {{"bad", "wrong corpus"}});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT runs FROM seeds"), ElementsAre("2"));
  EXPECT_THAT(rows(store, "SELECT runs FROM evaluation_seeds WHERE name = 'test.bpc'"), ElementsAre("2"));
}

TEST_F(StoreFile, RenewsViewsOfAnEarlierProgram) {
  maker_.make_sweep({"fixed"}, {256}, {1, 2, 3});
  Store(file_).sync(maker_.runs());
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec("DROP VIEW seeds; CREATE VIEW seeds AS SELECT 9 AS runs");
  Store store(file_);
  EXPECT_THAT(rows(store, "SELECT runs FROM seeds"), ElementsAre("3"));
}

TEST_F(StoreFile, GroupsRunsThatDifferInTheSeedAlone) {
  maker_.make_sweep({"fixed", "adaptive"}, {256}, {1, 2, 3});
  Store store(file_);
  store.sync(maker_.runs());
  EXPECT_THAT(rows(store, "SELECT runs FROM seeds"), ElementsAre("3", "3"));
}

TEST_F(StoreFile, ReadsOnlyJournalsThatChanged) {
  maker_.make({.id = "a"});
  maker_.make({.id = "b"});
  Store store(file_);
  EXPECT_EQ(store.sync(maker_.runs()).added, 2);
  const SyncReport second = store.sync(maker_.runs());
  EXPECT_EQ(second.unchanged, 2);
  EXPECT_EQ(second.updated, 0);
  maker_.journal({.id = "b"}).append("state", {{"state", "failed"}, {"reason", "changed its mind"}});
  const SyncReport third = store.sync(maker_.runs());
  EXPECT_EQ(third.updated, 1);
  EXPECT_EQ(third.unchanged, 1);
  EXPECT_THAT(rows(store, "SELECT run_id, reason FROM runs WHERE status = 'failed'"),
              ElementsAre("b|changed its mind"));
}

TEST_F(StoreFile, WhatWasNotGivenOfAJournalIsLeftToTheNextSync) {
  maker_.make({.id = "a"});
  maker_.make({.id = "b"});
  // As on a network file system whose caches know a file's length and not its end: nothing is there yet, or zeros are.
  for (const bool zeros : {false, true}) {
    const fs::path journal = RunPaths{maker_.runs() / "b"}.journal();
    const fs::file_time_type time = fs::last_write_time(journal);
    const std::uintmax_t told = fs::file_size(journal);
    const std::string all = read_file(journal);
    Store store(temporary_.path() / (zeros ? "zeros.db" : "nothing.db"));
    store.sync(maker_.runs(), {.is_alive = nullptr, .progress = [&](double done, double) {
                                 if (done == 1) fs::resize_file(journal, told / 2);
                                 if (done == 1 && zeros) fs::resize_file(journal, told);
                               }});
    EXPECT_THAT(rows(store, "SELECT run_id FROM runs WHERE status = 'done'"), ElementsAre("a"));
    std::ofstream(journal) << all;
    fs::last_write_time(journal, time);
    EXPECT_EQ(store.sync(maker_.runs()).updated, 1);
    EXPECT_THAT(rows(store, "SELECT run_id FROM runs WHERE status = 'done'"), ElementsAre("a", "b"));
    EXPECT_EQ(store.sync(maker_.runs()).unchanged, 2);
  }
}

TEST_F(StoreFile, ForgetsRunsWhoseFolderIsGone) {
  for (const char* id : {"a", "b"}) {
    const MadeRun made{.id = id, .text = "ab"};
    maker_.make(made);
    maker_.evaluate(made, "test", 2, {{"eval.batch", 1}});
  }
  Store store(file_);
  store.sync(maker_.runs());
  fs::remove_all(maker_.folder("a"));
  EXPECT_EQ(store.sync(maker_.runs()).removed, 1);
  for (const std::string_view table : run_tables()) {
    EXPECT_THAT(rows(store, "SELECT DISTINCT run_id FROM " + std::string(table)), ElementsAre("b")) << table;
  }
}

TEST_F(StoreFile, FindsThatARunningRunHasDied) {
  maker_.make({.id = "a", .state = "running"});
  Store store(file_);
  store.sync(maker_.runs(), {.is_alive = [](const fs::path&) { return true; }});
  EXPECT_THAT(rows(store, "SELECT status FROM runs"), ElementsAre("running"));
  store.sync(maker_.runs(), {.is_alive = [](const fs::path&) { return false; }});
  EXPECT_THAT(rows(store, "SELECT status FROM runs"), ElementsAre("stale"));
  store.sync(maker_.runs(), {.is_alive = [](const fs::path&) { return true; }});
  EXPECT_THAT(rows(store, "SELECT status FROM runs"), ElementsAre("running"));
}

TEST_F(StoreFile, ARunThatEndsDuringASyncDoesNotBecomeStale) {
  maker_.make({.id = "a", .state = "running"});
  Store slow(file_);
  slow.sync(maker_.runs(), {.is_alive = [](const fs::path&) { return true; }});
  slow.sync(maker_.runs(), {.is_alive = [&](const fs::path&) {  // its worker ends, and syncs
              maker_.journal({.id = "a"}).append("state", {{"state", "done"}});
              Store(file_).sync(maker_.runs());
              return false;
            }});
  EXPECT_THAT(rows(slow, "SELECT status FROM runs"), ElementsAre("done"));
  slow.sync(maker_.runs());
  EXPECT_THAT(rows(slow, "SELECT status FROM runs"), ElementsAre("done"));
}

TEST_F(StoreFile, RebuiltFromRunFoldersEqualsTheLiveOne) {
  maker_.make({.id = "c", .state = "running"});
  maker_.make({.id = "gone"});
  Store live(file_);
  live.sync(maker_.runs());
  maker_.make_sweep({"fixed", "adaptive"}, {256, 512}, {1, 2});
  Journal journal = maker_.journal({.id = "c"});
  journal.append("experiment", {{"name", "second"}});
  for (const double bpc : {1.75, 1.625}) {
    journal.append("evaluation", RunMaker::evaluation("test", bpc));
    journal.append("costs", {{"values", {{"params", 1e6 * bpc}}}});
    live.sync(maker_.runs());
  }
  maker_.evaluate({.id = "c"}, "test", 2, {{"eval.batch", 1}});
  fs::remove_all(maker_.folder("gone"));
  live.sync(maker_.runs());
  const fs::path other = temporary_.path() / "other.db";
  Store::rebuild(other, maker_.runs());
  Store rebuilt(other);
  EXPECT_EQ(dump(live), dump(rebuilt));
  Store::rebuild(file_, maker_.runs());
  Store again(file_);
  EXPECT_EQ(dump(again), dump(rebuilt));
}

TEST_F(StoreFile, LeavesOutRunsThatItCannotUnderstand) {
  maker_.make({.id = "good"});
  maker_.make({.id = "broken"});
  maker_.make({.id = "bare"});
  write_file(RunPaths{maker_.folder("broken")}.config(), "model: {span: 1\n");
  fs::remove(RunPaths{maker_.folder("bare")}.config());
  create_folders(maker_.folder("no-run-at-all"));
  std::ofstream(RunPaths{maker_.folder("good")}.journal(), std::ios::app) << "garbage\n{\"type\": \"sta";
  Store store(file_);
  const SyncReport report = store.sync(maker_.runs());
  EXPECT_EQ(report.added, 1);
  EXPECT_EQ(report.skipped, 2);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("good"));
}

TEST_F(StoreFile, ALackOfResourcesIsNoReasonToLeaveARunOut) {
  maker_.make({.id = "a"});
  maker_.make({.id = "b", .state = "running"});
  Store store(file_);
  store.sync(maker_.runs());
  maker_.journal({.id = "b"}).append("message", {{"text", "something new"}});
  const auto sync_while = [&](const std::function<bool(const fs::path&)>& is_alive) {
    return store.sync(maker_.runs(), {.is_alive = is_alive});
  };
  const auto no_memory = [](const fs::path&) -> bool { throw ResourceError("too many open files"); };
  EXPECT_THAT(error_of([&] { sync_while(no_memory); }, kOutOfResources), HasSubstr("too many open files"));
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs ORDER BY run_id"), ElementsAre("a", "b"));
  const auto damaged = [](const fs::path&) -> bool { throw DataError("damaged"); };
  EXPECT_EQ(sync_while(damaged).skipped, 1);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, DropsARunThatBecameUnreadable) {
  maker_.make({.id = "a"});
  Store store(file_);
  store.sync(maker_.runs());
  write_file(RunPaths{maker_.folder("a")}.config(), "]");
  maker_.journal({.id = "a"}).append("message", {{"text", "something new"}});
  EXPECT_EQ(store.sync(maker_.runs()).removed, 1);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre());
}

TEST_F(StoreFile, RefusesAFolderOfRunsThatIsNotThere) {
  maker_.make({.id = "a"});
  Store store(file_);
  store.sync(maker_.runs());
  error_of([&] { store.sync(temporary_.path() / "nowhere"); }, kBadData);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, ASlowSyncPutsNothingOlderInThePlaceOfWhatIsNewer) {
  maker_.make({.id = "a"});
  { Store(file_).sync(maker_.runs()); }
  maker_.evaluate({.id = "a"}, "test", 3, {{"data.name", "first"}});
  Store slow(file_);
  slow.sync(maker_.runs(), {.is_alive = nullptr, .progress = [&](double, double) {  // it has read the run
                              maker_.evaluate({.id = "a"}, "test", 4, {{"data.name", "second"}});
                              Store(file_).sync(maker_.runs());
                            }});
  EXPECT_EQ(rows(slow, "SELECT DISTINCT at FROM evaluations WHERE at <> ''").size(), 2U);
}

TEST_F(StoreFile, RunsThatCannotBeLookedIntoAreKept) {
  maker_.make({.id = "a"});
  maker_.make({.id = "b"});
  Store store(file_);
  store.sync(maker_.runs());
  fs::remove(RunPaths{maker_.folder("b")}.journal());
  fs::create_symlink("journal.jsonl", RunPaths{maker_.folder("b")}.journal());  // leads to itself, for root too
  const SyncReport report = store.sync(maker_.runs());
  EXPECT_EQ(report.removed, 0);
  EXPECT_EQ(report.skipped, 1);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a", "b"));
  fs::remove_all(maker_.folder("b"));
  EXPECT_EQ(store.sync(maker_.runs()).removed, 1) << "gone";
}

TEST_F(StoreFile, RemovesARunOnRequest) {
  maker_.make({.id = "a"});
  Store store(file_);
  store.sync(maker_.runs());
  store.remove("a");
  EXPECT_THAT(rows(store, "SELECT run_id FROM params"), ElementsAre());
}

TEST_F(StoreFile, TakesSyncsFromSeveralAtOnce) {
  maker_.make_sweep({"fixed", "adaptive"}, {64, 128, 256}, {1, 2, 3});
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] {
      for (int again = 0; again < 3; ++again) Store(file_).sync(maker_.runs());
    });
  }
  for (std::thread& other : others) other.join();
  Store store(file_);
  EXPECT_EQ(store.sync(maker_.runs()).unchanged, 18);
  EXPECT_EQ(rows(store, "SELECT run_id FROM runs").size(), 18);
}

TEST_F(StoreFile, TellsOfProgress) {
  maker_.make_sweep({"fixed"}, {64}, {1, 2, 3});
  std::vector<double> seen;
  Store(file_).sync(maker_.runs(), {.is_alive = nullptr, .progress = [&](double done, double total) {
                                      EXPECT_EQ(total, 3);
                                      seen.push_back(done);
                                    }});
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace xlm
