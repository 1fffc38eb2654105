// Reading run folders: what a journal adds up to.
#include "results/run_folder/run_folder.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;

class RunFolder : public ::testing::Test {
 protected:
  void append_raw(const MadeRun& run, const std::string& text) {
    std::ofstream(RunPaths{maker_.folder(run.id)}.journal(), std::ios::app) << text;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
};

TEST_F(RunFolder, FlattensTheConfigurationAndNamesTheData) {
  const auto run = read_run(maker_.make({.span = 512, .seed = 3}));
  EXPECT_EQ(*run.param("model.span"), 512);
  EXPECT_EQ(*run.param("seed"), 3);
  EXPECT_EQ(*run.param("data.name"), "text8");
  EXPECT_EQ(*run.param("data.fingerprint"), "f00d");
  EXPECT_EQ(run.param("experiment"), nullptr);
  EXPECT_EQ(run.param("model"), nullptr);
  EXPECT_EQ(run.experiment, "spans");
}

TEST_F(RunFolder, ReadsTheNewestTraceOfASplit) {
  const MadeRun made{.seed = 3, .text = "a cat"};
  maker_.make(made);
  maker_.journal(made).append(
      "trace", {{"split", "test"}, {"tokens", {"a", "b"}}, {"values", {{"span", {1, 2}}, {"boundary", {0, 1.5}}}}});
  maker_.journal(made).append("trace", {{"split", "test"}, {"tokens", {"a", "b"}}, {"values", {{"span", {1}}}}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.malformed, 1) << "a number is missing";
  ASSERT_EQ(run.traces.size(), 1);
  EXPECT_THAT(run.traces.at("test").tokens, ElementsAre("a", "b"));
  EXPECT_THAT(run.traces.at("test").values.at("boundary"), ElementsAre(0, 1.5));
}

TEST_F(RunFolder, ReadsTheNewestLossesOfASplit) {
  const MadeRun made;
  maker_.make(made);
  const auto add = [&](const Json& fields) {
    Json record = {{"step", 100},
                   {"split", "test"},
                   {"of", "tokens"},
                   {"each", 5},
                   {"tokens", Json::array({5, 4})},
                   {"sums", Json::array({7.5, 6.25})}};
    record.update(fields);
    maker_.journal(made).append("losses", record);
  };
  add({{"each", 6}});
  add(Json::object());
  add({{"split", "valid"}, {"of", "documents"}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.malformed, 0);
  const RunLosses& test = run.losses.at("test");
  EXPECT_EQ(test.step, 100);
  EXPECT_FALSE(test.of_documents);
  EXPECT_EQ(test.each, 5) << "the newest counts";
  EXPECT_THAT(test.tokens, ElementsAre(5, 4));
  EXPECT_THAT(test.sums, ElementsAre(7.5, 6.25));
  EXPECT_TRUE(run.losses.at("valid").of_documents);
  EXPECT_FALSE(test.has_parts_of(run.losses.at("valid")));
  RunLosses other = test;
  other.sums = {1, 2};
  EXPECT_TRUE(other.has_parts_of(test));
  other.tokens = {4, 5};
  EXPECT_FALSE(other.has_parts_of(test));

  add({{"tokens", Json::array({5})}});
  add({{"tokens", Json::array({5, -4})}});
  add({{"sums", Json::array({7.5, nullptr})}});
  add({{"of", "words"}});
  add({{"each", 0}});
  EXPECT_EQ(read_run(maker_.folder(made.id)).malformed, 5);
  maker_.journal(made).append("state", {{"state", "running"}, {"fresh", true}});
  EXPECT_TRUE(read_run(maker_.folder(made.id)).losses.empty()) << "it begins from nothing";
}

TEST_F(RunFolder, NamesTheLanguageOfTheData) {
  const MadeRun made;
  maker_.make(made);
  write_file(RunPaths{maker_.folder(made.id)}.environment(), R"({"dataset": "wiki40b", "language": "fi"})");
  EXPECT_EQ(*read_run(maker_.folder(made.id)).param("data.name"), "wiki40b-fi");
}

TEST_F(RunFolder, DoesWithoutAnEnvironment) {
  const MadeRun made;
  maker_.make(made);
  fs::remove(RunPaths{maker_.folder(made.id)}.environment());
  EXPECT_EQ(read_run(maker_.folder(made.id)).param("data.name"), nullptr);
}

TEST_F(RunFolder, KnowsStatusTimesAndHistory) {
  const auto run = read_run(maker_.make({.time = 5000}));
  EXPECT_EQ(run.status, RunStatus::kDone);
  EXPECT_EQ(run.created, 5000);
  EXPECT_EQ(run.finished, 5010);
  EXPECT_EQ(run.step, 100);
  ASSERT_EQ(run.history.size(), 3);
  EXPECT_EQ(run.history[1].state, "running");
  EXPECT_EQ(run.history[1].pid, 42);
  ASSERT_EQ(run.checkpoints.size(), 1);
  EXPECT_EQ(run.checkpoints[0].file, "checkpoints/step-100");
}

TEST(Journal, ALineThatIsNotAsItWasWrittenIsLeftOut) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "journal.jsonl";
  Journal(file).append("metric", {{"step", 1}, {"values", {{"loss", 2.125}}}});
  const std::string line = read_file(file);
  ASSERT_EQ(read_journal(file).records.size(), 1U);
  EXPECT_FALSE(read_journal(file).records.front().contains("crc")) << "it is the file's, not the record's";

  std::string other = line;
  other[other.find("2.125")] = '3';
  write_file(file, line + other + R"({"type":"metric","step":2,"values":{}})" + "\n");  // the last as once written
  const JournalContent content = read_journal(file);
  EXPECT_EQ(content.malformed, 1);
  EXPECT_EQ(content.records.size(), 2U);
}

TEST_F(RunFolder, IsQueuedWithoutAJournal) {
  const MadeRun made;
  maker_.write_config(made);
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.status, RunStatus::kQueued);
  EXPECT_FALSE(run.created.has_value());
}

TEST_F(RunFolder, IsStaleWhenItsProcessIsGone) {
  const fs::path folder = maker_.make({.state = "running"});
  EXPECT_EQ(read_run(folder).status, RunStatus::kRunning);
  EXPECT_EQ(read_run(folder, [](const fs::path&) { return true; }).status, RunStatus::kRunning);
  EXPECT_EQ(read_run(folder, [](const fs::path&) { return false; }).status, RunStatus::kStale);
}

TEST_F(RunFolder, ADoneRunIsNeverStale) {
  EXPECT_EQ(read_run(maker_.make({}), [](const fs::path&) { return false; }).status, RunStatus::kDone);
}

TEST_F(RunFolder, ChoosesTheFinalEvaluationWithTheRunsOwnSettings) {
  const MadeRun made;
  maker_.make(made);
  Json other = RunMaker::evaluation("test", 1.2);
  other["settings"] = {{"eval.batch", 1}};  // not what the run is configured with
  Json same = RunMaker::evaluation("test", 1.3);
  same["settings"] = {{"eval.batch", 8}, {"device", "cuda"}};
  Journal journal = maker_.journal(made);
  journal.append("evaluation", same);
  journal.append("evaluation", other);
  const auto run = read_run(maker_.folder(made.id));
  std::vector<double> main;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.main && evaluation.split == "test") main.push_back(evaluation.values.at("bpc"));
  }
  EXPECT_THAT(main, ElementsAre(1.3));
}

TEST_F(RunFolder, AnEvaluationSaysWhatItDiffersInFromItsRun) {
  const MadeRun made;
  maker_.make(made);
  maker_.evaluate(made, "test", 1, {{"eval.batch", 1}, {"model.span", 256}, {"data.fingerprint", "f00d"}});
  maker_.evaluate(made, "test", 2, {{"data.name", "pg-19"}, {"data.fingerprint", "beef"}, {"eval.batch", 4}});
  maker_.evaluate(made, "test", 3, {{"data.name", "text8"}, {"data.fingerprint", "beef"}});
  // The run does not configure this option.
  maker_.evaluate(made, "test", 4, {{"eval.max_windows", 500}, {"device", "cuda"}});
  maker_.evaluate(made, "test", 5, {{"eval.max_windows", 0}, {"eval.batch", 4}});
  std::map<double, std::string> at;
  for (const RunEvaluation& evaluation : read_run(maker_.folder(made.id)).evaluations) {
    at[evaluation.values.at("bpc")] = at_text(evaluation.at);
  }
  EXPECT_EQ(at.at(1), "eval.batch=1");
  EXPECT_EQ(at.at(2), "data.name=pg-19@eval.batch=4");
  EXPECT_EQ(at.at(3), "data.fingerprint=beef") << "other data of the same name";
  EXPECT_EQ(at.at(4), "eval.max_windows=500");
  EXPECT_EQ(at.at(5), "eval.batch=4") << "none is what the run had";
  EXPECT_EQ(at.at(1.5), "") << "the run's own";
}

TEST_F(RunFolder, IsReadWithARecordThatIsYetToBeWritten) {
  const MadeRun made;
  const fs::path folder = maker_.make(made);
  Json record = RunMaker::evaluation("test", 1.2);
  record.update({{"type", "evaluation"}, {"time", 2000}, {"settings", {{"eval.batch", 8}}}});
  record["values"]["token_perplexity"] = std::nan("");
  const auto before = read_run(folder);
  const auto with = read_run_with(folder, record);
  ASSERT_EQ(with.evaluations.size(), before.evaluations.size() + 1);
  maker_.journal(made).append("evaluation", record);
  const auto after = read_run(folder);
  ASSERT_EQ(after.evaluations.size(), with.evaluations.size());
  for (std::size_t i = 0; i < after.evaluations.size(); ++i) {
    EXPECT_EQ(after.evaluations[i].values, with.evaluations[i].values);
    EXPECT_EQ(after.evaluations[i].main, with.evaluations[i].main);
  }
}

TEST_F(RunFolder, KnowsTheEvaluationsThatAreWantedOfIt) {
  const MadeRun made{.state = "queued"};
  maker_.make(made);
  Journal journal = maker_.journal(made);
  Json wanted = {{"split", "valid"}, {"changes", {{"model.overlap", 5}, {"data.path", "/data/pg-19"}}}};
  journal.append("wanted", wanted);
  journal.append("wanted", wanted);
  journal.append("wanted", {{"changes", Json::object()}});
  const auto run = read_run(maker_.folder(made.id));
  ASSERT_EQ(run.wanted.size(), 1);
  EXPECT_EQ(run.wanted[0].split, "valid");
  EXPECT_EQ(at_text(run.wanted[0].changes), "data.path=/data/pg-19@model.overlap=5");
  EXPECT_EQ(run.malformed, 1);
}

TEST_F(RunFolder, ANumberOtherThanFinalIsNotMain) {
  const auto run = read_run(maker_.make({.state = "failed"}));
  ASSERT_EQ(run.evaluations.size(), 1);
  EXPECT_FALSE(run.evaluations[0].main);
}

TEST_F(RunFolder, EachQuantityOfASplitHasItsOwnLastValue) {
  const MadeRun made{.id = "a", .state = "failed"};
  maker_.make(made);
  maker_.make_of_program(made.id);
  Journal journal = maker_.journal(made);
  const auto report = [&](std::int64_t step, bool is_final, const Json& values) {
    journal.append("evaluation", {{"split", "test"}, {"step", step}, {"final", is_final}, {"values", values}});
  };
  report(5, true, {{"acc", 0.5}});
  report(6, false, {{"acc", 0.6}, {"f1", 0.7}, {"gone", 1.0}});  // a final number counts before a later one
  report(8, false, {{"gone", nullptr}, {"torn", 1.0}});          // not finite: no earlier value stands for it
  report(9, true, {{"loss", 2.0}, {"torn", nullptr}});
  const xlm::Run run = read_run(maker_.folder(made.id));
  const RunEvaluation* main = main_evaluation(run, "test");
  ASSERT_NE(main, nullptr);
  const std::map<std::string, double> numbers = main->numbers();
  EXPECT_EQ(numbers.at("loss"), 2.0);
  EXPECT_EQ(numbers.at("acc"), 0.5);
  EXPECT_EQ(numbers.at("f1"), 0.7);
  EXPECT_FALSE(numbers.contains("gone") || numbers.contains("torn"));
  EXPECT_EQ(main->values.size(), 1U) << "what the evaluation itself says";
}

TEST_F(RunFolder, ALossThatIsNotFiniteHidesEarlierOnes) {
  const std::vector<Json> ends{{{"values", {{"loss", nullptr}}}},                 // as it is written
                               {{"values", Json::object()}},                      // as it was before
                               {{"values", Json::object()}, {"loss", nullptr}}};  // an infinite one, then
  for (const Json& end : ends) {
    const MadeRun made{.id = "a", .state = "failed"};
    maker_.make(made);
    maker_.make_of_program(made.id);
    Journal journal = maker_.journal(made);
    journal.append("evaluation", {{"split", "test"}, {"step", 5}, {"final", false}, {"loss", 1.0}, {"values", {}}});
    journal.append("evaluation", {{"split", "test"}, {"step", 9}, {"final", false}, {"loss", 1.1}, {"values", {}}});
    Json record = end;
    record.update({{"split", "test"}, {"step", 9}, {"final", true}});
    journal.append("evaluation", record);
    const xlm::Run run = read_run(maker_.folder(made.id));
    const RunEvaluation* main = main_evaluation(run, "test");
    ASSERT_NE(main, nullptr);
    EXPECT_THAT(main->numbers(), IsEmpty()) << end;
    EXPECT_THAT(main->not_finite, ElementsAre("loss"));
    fs::remove_all(maker_.folder(made.id));
  }
}

TEST_F(RunFolder, WhatALogLeavesIsAlsoWhatWasNotFinite) {
  const MadeRun made{.id = "a", .state = "failed"};
  maker_.make(made);
  maker_.make_of_program(made.id);
  Journal journal = maker_.journal(made);
  const auto report = [&](std::int64_t step, const Json& values) {
    journal.append("evaluation", {{"split", "test"}, {"step", step}, {"final", false}, {"values", values}});
  };
  report(40, {{"loss", nullptr}});
  report(60, {{"acc", nullptr}, {"f1", 0.5}});
  journal.append("back", {{"step", 51}, {"names", {"test.acc"}}});
  const xlm::Run run = read_run(maker_.folder(made.id));
  const auto at = [&](std::int64_t step) {
    return *std::ranges::find_if(run.evaluations,
                                 [&](const RunEvaluation& one) { return one.step == step && one.split == "test"; });
  };
  EXPECT_THAT(at(40).not_finite, ElementsAre("loss"));
  EXPECT_THAT(at(60).not_finite, IsEmpty());
}

TEST_F(RunFolder, WhatOurOwnModelsDoNotReportIsNotSo) {
  const MadeRun made{.id = "a", .state = "failed"};
  maker_.make(made);
  Journal journal = maker_.journal(made);
  const auto report = [&](std::int64_t step, bool is_final, const Json& values) {
    journal.append("evaluation", {{"split", "test"}, {"step", step}, {"final", is_final}, {"values", values}});
  };
  report(5, false, {{"bpc", 4.9}, {"worse_than_guessing", 1}});
  report(9, true, {{"bpc", 4.0}});
  const xlm::Run run = read_run(maker_.folder(made.id));
  EXPECT_THAT(main_evaluation(run, "test")->numbers(), ElementsAre(Pair("bpc", 4.0)));
}

TEST_F(RunFolder, EachRecordOfAnAttemptIsASignOfIt) {
  const MadeRun made{.id = "a", .state = "running"};
  maker_.make(made);
  Journal journal = maker_.journal(made);
  journal.append("metric", {{"step", 60}, {"values", {{"loss", 1.0}}}});
  const double last = read_run(maker_.folder(made.id)).history.back().last_sign;
  journal.append("back", {{"step", 51}, {"names", {"loss"}}});  // which voids the number, and not the time
  Journal(RunPaths{maker_.folder(made.id)}.journal(), [] { return 1e9; }).append("remark", {{"tag", "t"}});
  const xlm::Run run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.history.back().state, "running");
  EXPECT_EQ(run.history.back().last_sign, last + 1) << "that of people is none";
  Journal(
      RunPaths{maker_.folder(made.id)}.journal(), [] { return 2e9; }, 2)
      .append("state", {{"state", "queued"}, {"cause", "gone"}});
  const xlm::Run queued = read_run(maker_.folder(made.id));
  EXPECT_EQ(queued.history[queued.history.size() - 2].last_sign, last + 1) << "nor that of who says that it is gone";
}

TEST_F(RunFolder, TheLaterOfTwoRecordsOfAStepCounts) {
  const MadeRun made;
  maker_.make(made);
  Journal journal = maker_.journal(made);
  journal.append("metric", {{"step", 100}, {"values", {{"bpc", 9.0}}}});
  journal.append("grid", {{"step", 100}, {"name", "spans"}, {"rows", {{1, 2}, {3, 4}}}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.metrics.at("bpc").at(100), 9.0);
  EXPECT_EQ(run.metrics.at("loss").at(100), 1.1);
  EXPECT_THAT(run.grids.at("spans").at(100).rows, ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST_F(RunFolder, KeepsGridsOfEveryName) {
  const MadeRun made;
  maker_.make(made);
  Journal journal = maker_.journal(made);
  journal.append("grid", {{"step", 90}, {"name", "gates"}, {"rows", {{1, 2}, {3, 4}}}});
  journal.append("grid", {{"step", 100}, {"name", "gates"}, {"rows", {{0.5, nullptr}, {2, 3, 4}}}});
  journal.append("grid", {{"step", 100}, {"rows", {{0.5, 1}}}});
  journal.append("grid", {{"step", 100}, {"name", "words"}, {"rows", {{"a", "b"}, {"c", "d"}}}});
  const auto run = read_run(maker_.folder(made.id));
  ASSERT_EQ(run.grids.size(), 2);
  EXPECT_EQ(run.grids.at("spans").size(), 1);
  ASSERT_EQ(run.grids.at("gates").size(), 2);
  const RunGrid& newest = run.grids.at("gates").at(100);
  EXPECT_EQ(newest.rows[0][0], 0.5);
  EXPECT_TRUE(std::isnan(newest.rows[0][1]));
  EXPECT_THAT(newest.rows[1], ElementsAre(2, 3, 4));
  EXPECT_EQ(newest.column(2), 3);
  EXPECT_EQ(run.malformed, 2) << "one without a name, one of words";
}

TEST_F(RunFolder, ColumnsOfAGridMayStandForDistances) {
  const MadeRun made;
  maker_.make(made);
  Journal journal = maker_.journal(made);
  const auto append = [&](const char* name, const Json& columns) {
    journal.append("grid", {{"step", 100}, {"name", name}, {"rows", {{0.5, 0.25}, {2}}}, {"columns", columns}});
  };
  append("attention", {64, 100});
  append("too-few", {64});
  append("falling", {64, 32});
  append("twice", {64, 64});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.last_grid("attention")->column(1), 100);
  EXPECT_EQ(run.malformed, 3);
  EXPECT_EQ(run.grids.size(), 2U) << "spans and attention";
}

TEST_F(RunFolder, IgnoresAWorkerThatWasReplaced) {
  const MadeRun made{.state = "running"};
  maker_.make(made);
  maker_.journal(made, 2).append("state", {{"state", "running"}});
  maker_.journal(made, 1).append("metric", {{"step", 60}, {"values", {{"bpc", 7.0}}}});
  maker_.journal(made, 1).append("state", {{"state", "failed"}});
  maker_.journal(made, 2).append("metric", {{"step", 60}, {"values", {{"bpc", 1.0}}}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.metrics.at("bpc").at(60), 1.0);
  EXPECT_EQ(run.metrics.at("loss").at(50), 1.2) << "what it wrote while it held the run stays";
  EXPECT_EQ(run.status, RunStatus::kRunning);
}

TEST_F(RunFolder, BelongsToEveryExperimentThatClaimsIt) {
  const MadeRun made;
  maker_.make(made);
  maker_.journal(made, 0).append("experiment", {{"name", "another"}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.experiment, "spans");
  EXPECT_THAT(run.experiments, ElementsAre("another", "spans"));
}

TEST_F(RunFolder, LeavesOutMalformedLinesAndCountsThem) {
  const MadeRun made;
  maker_.make(made);
  append_raw(made,
             "{\"type\": \"metric\", \"step\": \"many\", \"values\": {\"bpc\": 1}}\nnot json\n[1, 2]\n"
             "{\"type\": \"state\", \"state\": \"happy\"}\n{\"type\": \"metric\", \"step\": 101, \"values\": 5}\n");
  maker_.journal(made).append("metric", {{"step", 102}, {"values", {{"bpc", 1.25}, {"loss", nullptr}}}});
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.malformed, 5);
  EXPECT_EQ(run.status, RunStatus::kDone);
  EXPECT_EQ(run.metrics.at("bpc").at(102), 1.25);
  EXPECT_FALSE(run.metrics.at("loss").contains(102));
  EXPECT_FALSE(run.metrics.at("bpc").contains(101));
}

TEST_F(RunFolder, DropsATornLastLine) {
  const MadeRun made;
  maker_.make(made);
  append_raw(made, "{\"type\": \"state\", \"state\": \"fail");
  const auto run = read_run(maker_.folder(made.id));
  EXPECT_EQ(run.malformed, 0);
  EXPECT_EQ(run.status, RunStatus::kDone);
}

TEST_F(RunFolder, SaysWhichFileIsMissingOrBroken) {
  const MadeRun made;
  maker_.make(made);
  const fs::path config = RunPaths{maker_.folder(made.id)}.config();
  write_file(config, "model: [1, 2\n");
  EXPECT_THAT([&] { read_run(maker_.folder(made.id)); }, ThrowsMessage<DataError>(HasSubstr("config.yaml:")));
  fs::remove(config);
  EXPECT_THROW(read_run(maker_.folder(made.id)), DataError);
}

}  // namespace
}  // namespace xlm
