// Evaluations and continuations by the program.
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(ProgramTest, EvalOfARunGoesIntoItsJournal) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  const ProgramResult result = run({"eval", id.substr(0, 16), "--split", "train", "eval.batch=4", "--json"});
  ASSERT_EQ(result.code, kDone) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["model"], id);
  EXPECT_EQ(json["split"], "train");
  EXPECT_EQ(json["tokens"], 100);
  EXPECT_EQ(json["average_span"], 16);
  EXPECT_EQ(run_folders().size(), 1U);
  EXPECT_EQ(read_run(run_folders().front()).evaluations.size(), 3U);
}

TEST_F(ProgramTest, EvalWithOtherSettingsDoesNotReplaceTheRunsOwnResult) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  ASSERT_EQ(run({"eval", id, "eval.batch=4"}).code, kDone);
  for (const RunEvaluation& evaluation : read_run(run_folders().front()).evaluations) {
    EXPECT_FALSE(evaluation.main && evaluation.values.at("loss") == 2.5);
  }
}

TEST_F(ProgramTest, EvalOfARunThatDoesNotSayItsDataNamesTheFile) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const fs::path made = run_folders().front();
  write_file(made / "config.yaml", "model: {type: adaptive-span, width: 8, heads: 2, layers: 1, span: 16}\n");
  const ProgramResult result = run({"eval", made.filename().string()});
  EXPECT_EQ(result.code, kBadData);
  EXPECT_THAT(result.err, HasSubstr("config.yaml is damaged: data.path is missing\nname the data with --data"));
}

TEST_F(ProgramTest, EvalOfAModelFolderMakesItsOwnRunFolder) {
  const fs::path model = folder_.path() / "mine";
  create_folders(model);
  write_file(model / "config.yaml", "model: {type: adaptive-span, span: 8}\n");
  write_file(model / "model.safetensors", "weights");
  EXPECT_THAT(run({"eval", "mine"}).err, HasSubstr("--data is missing"));
  const ProgramResult result = run({"eval", "mine", "--data", "data"});
  ASSERT_EQ(result.code, kDone) << result.err;
  ASSERT_EQ(run({"eval", "mine", "--data", "data", "eval.batch=2"}).code, kDone);
  ASSERT_EQ(run_folders().size(), 1U);
  const auto made = read_run(run_folders().front());
  EXPECT_THAT(made.id, HasSubstr("eval-adaptive-span-abc-"));
  EXPECT_EQ(made.status, RunStatus::kDone);
  EXPECT_EQ(made.evaluations.size(), 2U);
  EXPECT_EQ(run({"eval", made.id}).code, kUsage) << "needs --data: the weights lie elsewhere";
  EXPECT_EQ(run({"eval", made.id, "--data", "data"}).code, kDone);
}

TEST_F(ProgramTest, EvalOnOtherDataBelongsToItsRun) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  make_data(folder_.path() / "other", "ccc");
  for (const fs::path& made : run_folders()) {
    ASSERT_EQ(run({"eval", made.filename().string(), "--data", "other"}).code, kDone);
  }
  EXPECT_EQ(run_folders().size(), 3U) << "an evaluation is no run";
  const ProgramResult own = run({"runs", "sql", "SELECT test_bpc, runs FROM seeds", "--format", "json"});
  EXPECT_NEAR(Json::parse(own.out)[0]["test_bpc"].get<double>(), 2.02, 1e-9) << "not averaged with the other corpus";
  // make_data names all its data "abc": they differ in content.
  const ProgramResult other =
      run({"runs", "sql", "SELECT runs, mean, sd FROM evaluation_seeds WHERE metric = 'bpc' AND at <> ''", "--format",
           "json"});
  const Json row = Json::parse(other.out).at(0);
  EXPECT_EQ(row["runs"], 3);
  EXPECT_NEAR(row["mean"].get<double>(), 2.22, 1e-9);
  EXPECT_NEAR(row["sd"].get<double>(), 0.01, 1e-6);
}

/// A stateless model trained once and read at every overlap, and recurrent ones trained at each: as in the
/// recurrence paper's tables.
TEST_F(ProgramTest, OneTrainingIsEvaluatedAtEveryOverlap) {
  const std::string sweep =
      "sweep:\n"
      "  grid: {seed: [1, 2, 3], model.recurrence.pool: [none, mean], model.overlap: [0, 2, 4]}\n"
      "  exclude: [{model.recurrence.pool: none, model.overlap: 2}, {model.recurrence.pool: none, model.overlap: 4}]\n"
      "evaluate:\n"
      "  - {where: {model.recurrence.pool: none}, model.overlap: [0, 2, 4], split: [valid, test]}\n"
      "tables:\n"
      "  - table: Overlaps\n"
      "    rows:\n"
      "      - {label: plain, where: {model.recurrence.pool: none}}\n"
      "      - {label: recurrent, where: {model.recurrence.pool: mean}}\n"
      "    columns:\n"
      "      - {label: at 0, where: {model.overlap: 0, at.model.overlap: 0}}\n"
      "      - {label: at 4, where: {at.model.overlap: 4}}\n"
      "      - {label: FLOPs, value: flops_per_token, where: {at.model.overlap: 4}}\n"
      "    cells: {value: test.bpc, spread: sd, digits: 4}\n";
  write_file(folder_.path() / "sweep.yaml", window_config("data", sweep));
  const ProgramResult dry = run({"sweep", "sweep.yaml", "--dry-run"});
  EXPECT_THAT(dry.out, AllOf(HasSubstr("12 of 12 runs to do, 18 evaluations"), HasSubstr("new, then 6 evaluations")));
  order("fail-at-overlap=4");
  const ProgramResult first = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(first.code, kFailed) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("12 of 12 runs done, 12 of 18 evaluations, 3 failed"),
                               HasSubstr("an evaluation failed")));
  order("");
  const ProgramResult second = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(second.code, kDone) << second.err << second.out;
  EXPECT_THAT(second.out, HasSubstr("12 of 12 runs done, 18 of 18 evaluations\n"));
  EXPECT_THAT(run({"sweep", "sweep.yaml"}).code, kDone);
  expect_all_done(12);
  std::size_t made = 0;
  for (const fs::path& folder : run_folders()) {
    EXPECT_EQ(steps(folder).size(), 10U) << "trained once";
    const std::string log = fs::exists(folder / "evaluations.log") ? read_file(folder / "evaluations.log") : "";
    made += static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  }
  EXPECT_EQ(made, 3U * (2 + 2 * 2)) << "overlap 2 once, overlap 4 again where it failed, overlap 0 never";
  const ProgramResult table = run({"table", "sweep.yaml", "--format", "csv"});
  EXPECT_EQ(table.code, kDone) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("2.016"), HasSubstr("2004")));
  const ProgramResult list = run({"runs", "ls", "--where", "model.recurrence.pool=none", "--columns",
                                  "at.model.overlap,test.bpc,test.bpc@model.overlap=4", "--format", "csv"});
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 10) << list.out;
  const ProgramResult front = run({"pareto", "--x", "flops_per_token", "--y", "test.bpc", "--where",
                                   "model.recurrence.pool=none", "--group-by", "at.model.overlap", "--json"});
  EXPECT_EQ(Json::parse(front.out)["front"].size(), 3U) << front.out;
}

TEST_F(ProgramTest, EvalOverlapMeasuresWhatASweepHasNot) {
  write_file(folder_.path() / "sweep.yaml",
             window_config("data", "sweep: {grid: {seed: [1]}}\nevaluate: {model.overlap: 2}\n"));
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  const ProgramResult result = run({"eval-overlap", id, "--window", "8", "--overlap", "0,2,4", "--json"});
  ASSERT_EQ(result.code, kDone) << result.err;
  const Json rows = Json::parse(result.out);
  EXPECT_EQ(rows[0]["measured_before"], true);
  EXPECT_EQ(rows[1]["measured_before"], true);
  EXPECT_EQ(rows[2]["measured_before"], false);
  EXPECT_EQ(run_folders().size(), 1U);
  write_file(folder_.path() / "sweep.yaml",
             window_config("data", "sweep: {grid: {seed: [1]}}\nevaluate: {model.overlap: [2, 4]}\n"));
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--dry-run"}).out, HasSubstr("done already"));
}

TEST_F(ProgramTest, EvalOverlapRecordsWhatEvalDoes) {
  write_file(config(), window_config("data"));
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const fs::path made = run_folders().front();
  const std::string id = made.filename().string();
  EXPECT_THAT(run({"eval-overlap", id, "--window", "8", "model.window=4"}).err,
              HasSubstr("'model.window' changes nothing in xlm eval-overlap"));
  const std::vector<std::string> ask{"eval-overlap", id, "--window", "8", "--overlap", "4"};
  const ProgramResult text = run(ask);
  ASSERT_EQ(text.code, kDone) << text.err;
  ASSERT_EQ(run({"eval", id, "model.overlap=4"}).code, kDone);
  std::vector<Json> values;
  for (const std::string& line : split(read_file(made / "journal.jsonl"), '\n')) {
    if (line.empty()) continue;
    const Json record = Json::parse(line);
    if (record["type"] == "evaluation" && record.contains("settings")) values.push_back(record["values"]);
  }
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0], values[1]) << "on whatever core divides by, in the units that it gives";
  EXPECT_THAT(text.out, AllOf(HasSubstr("bits/byte"), HasSubstr("3.2500"), Not(HasSubstr("token ppl")),
                              Not(HasSubstr("word ppl"))));
}

TEST_F(ProgramTest, EvalRefusesAWrongSplitOrKey) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  const ProgramResult split = run({"eval", id, "--split", "tets"});
  EXPECT_EQ(split.code, kUsage);
  EXPECT_THAT(split.err, HasSubstr("did you mean 'test'"));
  EXPECT_EQ(run({"eval", id, "model.span=3"}).code, kUsage);
  EXPECT_EQ(run({"eval", id, "eval.select=last"}).code, kUsage);
  const ProgramResult useless = run({"eval", id, "eval.context=64"});
  EXPECT_EQ(useless.code, kUsage);
  EXPECT_THAT(useless.err,
              HasSubstr("'eval.context' changes nothing in xlm eval with a model of type adaptive-span\n"
                        "leave it out; what counts: train.block, train.precision, train.threads, train.tf32, "
                        "eval.batch, eval.max_windows, eval.by_document, device"));
  EXPECT_EQ(run({"eval", id, "--data", "nowhere"}).code, kBadData);
}

TEST_F(ProgramTest, EvalSaysHowAnotherTextIsGiven) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  write_file(folder_.path() / "letters.txt", "abcabc");
  const ProgramResult text = run({"eval", id, "--data", "letters.txt"});
  EXPECT_EQ(text.code, kBadData);
  EXPECT_THAT(text.err, AllOf(HasSubstr("letters.txt is a file, not a prepared data folder"),
                              HasSubstr("xlm prepare-data text --from letters.txt --out data/letters\n")));
  for (const char* command : {"eval", "eval-overlap"}) {
    std::vector<std::string> words{command, id, data_.string()};
    if (words.front() == "eval-overlap") words.insert(words.end(), {"--window", "8"});
    const ProgramResult folder = run(words);
    EXPECT_EQ(folder.code, kUsage);
    EXPECT_THAT(folder.err, HasSubstr("is not KEY=VALUE\nto evaluate other data: --data " + data_.string()));
  }
  EXPECT_THAT(run({"eval", id, "eval.batch"}).err, Not(HasSubstr("--data")));
}

/// A journal edited by hand: its lines have no checksums.
TEST_F(ProgramTest, EvalOverlapMeasuresAgainWhatIsKnownInPartOnly) {
  write_file(config(), window_config("data"));
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const fs::path made = run_folders().front();
  const std::vector<std::string> ask{"eval-overlap", made.filename().string(), "--window", "8", "--json"};
  const std::string journal = read_file(made / "journal.jsonl");
  ASSERT_EQ(Json::parse(run(ask).out)[0]["measured_before"], true);
  for (const char* change : {"nothing", "erase", "a word", "null"}) {
    const bool known = std::string_view(change) == "nothing";
    std::string changed;
    for (const std::string& line : split(journal, '\n')) {
      if (line.empty()) continue;
      Json record = Json::parse(line);
      record.erase("crc");
      if (record["type"] == "evaluation") {
        if (std::string_view(change) == "erase") record.erase("tokens");
        if (std::string_view(change) == "a word") record["tokens"] = "many";
        if (std::string_view(change) == "null") record["tokens"] = nullptr;
      }
      changed += record.dump() + "\n";
    }
    write_file(made / "journal.jsonl", changed);
    const ProgramResult result = run(ask);
    EXPECT_EQ(result.code, kDone) << change << "\n" << result.err;
    EXPECT_EQ(Json::parse(result.out)[0]["measured_before"], known) << change;
    EXPECT_EQ(Json::parse(result.out)[0]["tokens"], known ? 99 : 100) << change;
  }
}

TEST_F(ProgramTest, ContinuationsAreThoseOfEveryRowsModelSideBySide) {
  const std::string sweep =
      "sweep: {grid: {seed: [1, 2]}}\n"
      "continuation:\n  title: Both seeds\n  rows:\n    - {label: first, where: {seed: 1}}\n"
      "    - {label: second, where: {seed: 2}}\n    - {label: third, where: {seed: 3}}\n"
      "  prompts: [{document: 1, first: 4}, {document: 2}]\n  prompt_tokens: 7\n  tokens: 2\n"
      "profiles: {far: {experiment: sweep, continuation: {prompts: [{document: 3}]}}}\n";
  write_sweep(sweep);
  EXPECT_EQ(run({"continuation", "sweep.yaml"}).code, kBadData) << "there are no runs";
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const ProgramResult text = run({"continuation", "sweep.yaml", "--quiet"});
  ASSERT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("valid split, document 1, tokens 4 to 10\n  valid 1/4 of " + data_.string()));
  EXPECT_THAT(text.out, HasSubstr("  first   2.010000 ab ab\n  second  2.020000 ab ab\n  third   – (no run yet)\n"));
  const Json json = Json::parse(run({"continuation", "sweep.yaml", "--json"}).out).at(0);
  EXPECT_EQ(json["passages"][1]["prompt"], "valid 2/1 of " + data_.string());
  EXPECT_EQ(json["passages"][1]["continuations"]["second"], "2.020000\nab ab ");
  EXPECT_EQ(json["models"][2]["missing"], "no run yet");
  ASSERT_EQ(run({"continuation", "sweep.yaml", "--out", "page.html"}).code, kDone);
  EXPECT_THAT(read_file(folder_.path() / "page.html"), HasSubstr("<h1>Both seeds</h1>"));
  const ProgramResult beyond = run({"continuation", "sweep.yaml", "--profile", "far"});
  EXPECT_EQ(beyond.code, kBadData);
  EXPECT_THAT(beyond.err, HasSubstr("no document 3"));
  EXPECT_EQ(run({"continuation", "sweep.yaml", "model.span=7"}).code, kUsage) << "weights have their span";
  EXPECT_THAT(run({"continuation", "sweep.yaml", "eval.batch=7"}).err, HasSubstr("nothing in xlm continuation"));
}

}  // namespace
}  // namespace xlm
