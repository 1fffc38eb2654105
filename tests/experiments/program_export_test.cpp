// Results for other programs: the files of a training for TensorBoard, and those of `xlm runs export`.
#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/experiments/program_fixture.h"
#include "tests/needs.h"
#include "tests/readers.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

TEST_F(ProgramTest, TrainWritesEventFilesWhereItIsAsked) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  order("kill-at=5");
  run({"train", "run.yaml", "results.tensorboard=true"});
  order("");
  ASSERT_EQ(run({"train", "run.yaml", "results.tensorboard=true"}).code, kDone);
  const fs::path folder = run_folders().front() / "tensorboard";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2) << "a file for each worker";
  const Json seen = Json::parse(read_with_python(
      folder_.path(),
      "import json\nfrom tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
      "events = EventAccumulator('" +
          folder.string() +
          "')\nevents.Reload()\n"
          "print(json.dumps({tag: [e.step for e in events.Scalars(tag)] for tag in events.Tags()['scalars']}))\n"));
  ASSERT_TRUE(seen.contains("train/loss")) << seen;
  ASSERT_TRUE(seen.contains("test/bpc")) << seen;
  const std::vector<int> steps = seen["train/loss"];
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end())) << seen;
  EXPECT_EQ(std::adjacent_find(steps.begin(), steps.end()), steps.end()) << "a step that was repeated shows once";
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone) << "it is the same run without them";
  EXPECT_EQ(run_folders().size(), 1U);
}

TEST_F(ProgramTest, ExportWritesWhatIsAskedFor) {
  run({"train", "run.yaml"});
  run({"train", "run.yaml", "seed=2"});
  const ProgramResult csv = run({"runs", "export", "--format", "csv", "--out", "out/csv", "--where", "seed=2"});
  EXPECT_EQ(csv.code, kDone) << csv.err;
  EXPECT_EQ(csv.out, "out/csv/runs.csv\nout/csv/series.csv\nout/csv/evaluations.csv\n");
  const std::string runs = read_file(folder_.path() / "out/csv/runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 2) << "a title and one run";
  EXPECT_THAT(runs, HasSubstr("test.bpc"));
  const std::string id = run_folders().front().filename().string();
  const Json events = Json::parse(run({"runs", "export", id, "--format", "tensorboard", "--out", "ev", "--json"}).out);
  EXPECT_EQ(events["runs"], 1);
  EXPECT_THAT(events["files"][0].get<std::string>(), HasSubstr("ev/" + id + "/events.out.tfevents."));
}

TEST_F(ProgramTest, ExportWritesTheTablesAndQuantitiesThatAreChosen) {
  run({"train", "run.yaml"});
  const ProgramResult series = run({"runs", "export", "--format", "jsonl", "--out", "out", "--only",
                                    "series,evaluations", "--quantity", "loss", "--quantity", "loss"});
  ASSERT_EQ(series.code, kDone) << series.err;
  EXPECT_EQ(series.out, "out/series.jsonl\nout/evaluations.jsonl\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "out/runs.jsonl"));
  std::ifstream lines(folder_.path() / "out/series.jsonl");
  std::vector<int> steps;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    EXPECT_EQ(row["name"], "loss");
    EXPECT_TRUE(row["value"].is_number());
    steps.push_back(row["step"].get<int>());
  }
  EXPECT_FALSE(steps.empty());
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_EQ(std::adjacent_find(steps.begin(), steps.end()), steps.end()) << "a quantity that is named twice comes once";

  ASSERT_EQ(run({"runs", "export", "--format", "jsonl", "--out", "out", "--only", "runs"}).code, kDone);
  const Json row = Json::parse(read_file(folder_.path() / "out/runs.jsonl"));
  EXPECT_EQ(row["run_id"], run_folders().front().filename().string());
  EXPECT_EQ(row["seed"], 1);
  EXPECT_EQ(row["train.tf32"], false);
  EXPECT_TRUE(row["test.bpc"].is_number_float());
  EXPECT_THAT(row["created"].get<std::string>(), ::testing::EndsWith("Z"));
}

TEST_F(ProgramTest, ExportRefusesUnknownTablesAndQuantities) {
  run({"train", "run.yaml"});
  EXPECT_EQ(run({"runs", "export", "--format", "csv", "--out", "out", "--only", "metrics"}).code, kUsage);
  const ProgramResult unknown =
      run({"runs", "export", "--format", "csv", "--out", "out", "--only", "series", "--quantity", "los"});
  EXPECT_EQ(unknown.code, kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("no run reports a quantity 'los' (did you mean 'loss'?)"));
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
  const ProgramResult events = run({"runs", "export", "--format", "tensorboard", "--out", "ev", "--only", "runs"});
  EXPECT_EQ(events.code, kUsage);
  EXPECT_FALSE(fs::exists(folder_.path() / "ev"));
}

TEST_F(ProgramTest, ExportOfNothingSaysWhy) {
  EXPECT_EQ(run({"runs", "export", "--format", "csv", "--out", "out"}).code, kBadData);
  run({"train", "run.yaml"});
  const ProgramResult none = run({"runs", "export", "--format", "csv", "--out", "out", "--where", "seed=7"});
  EXPECT_EQ(none.code, kBadData);
  EXPECT_THAT(none.err, HasSubstr("seed"));
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
  EXPECT_EQ(run({"runs", "export", "--format", "xlsx", "--out", "out"}).code, kUsage);
  EXPECT_EQ(run({"runs", "export", "--format", "csv"}).code, kUsage) << "--out is required";
}

}  // namespace
}  // namespace xlm
