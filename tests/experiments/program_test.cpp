// The program from end to end, with a core that needs no torch.
#include "tests/experiments/program.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/submission.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {
    ::setenv("XLM_FAKE_HOLD", hold().c_str(), 1);
    order("");
    write_file(config(), run_config("data"));
  }

  fs::path hold() const { return folder_.path() / "hold"; }
  fs::path config() const { return folder_.path() / "run.yaml"; }

  /// What the stand-in for core does in programs that are started from now on (see fake_core.h).
  static void order(const std::string& orders) { ::setenv("XLM_FAKE_CORE", orders.c_str(), 1); }

  BackgroundProgram start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), XLM_FAKE_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path());
  }
  ProgramResult run(const std::vector<std::string>& arguments) { return start(arguments).wait(); }

  void write_sweep(const std::string& sweep) { write_file(folder_.path() / "sweep.yaml", run_config("data", sweep)); }

  /// Waits for something that another process does; the test's time limit ends it.
  static void until(const std::function<bool()>& condition) {
    while (!condition()) ::usleep(1000);
  }

  std::vector<fs::path> run_folders() const {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(runs_)) {
      const bool hidden = entry.path().filename().string().front() == '.';  // under construction
      if (!hidden && fs::exists(entry.path() / "journal.jsonl")) folders.push_back(entry.path());
    }
    return folders;
  }

  std::size_t count_running() const {
    if (!fs::exists(runs_)) return 0;
    std::size_t count = 0;
    for (const fs::path& folder : run_folders()) {
      if (read_live_run(folder).status == RunStatus::kRunning && steps(folder).size() >= 2) ++count;
    }
    return count;
  }

  static std::vector<int> steps(const fs::path& run) {
    std::ifstream file(run / "steps.log");
    std::vector<int> result;
    for (int step = 0; file >> step;) result.push_back(step);
    return result;
  }

  /// Every run is done, and its steps are 1 … 10, none of them twice but those after a checkpoint that a kill undid.
  void expect_all_done(std::size_t count) const {
    EXPECT_EQ(run_folders().size(), count);
    for (const fs::path& folder : run_folders()) {
      EXPECT_EQ(read_live_run(folder).status, RunStatus::kDone) << folder;
      const std::vector<int> done = steps(folder);
      EXPECT_EQ(std::set<int>(done.begin(), done.end()).size(), 10U) << folder;
    }
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
};

TEST_F(ProgramTest, TrainPrintsResultsAndSkipsTheSecondTime) {
  const ProgramResult first = run({"train", "run.yaml"});
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("test"), HasSubstr("2.01"), HasSubstr("bpc")));
  const ProgramResult second = run({"train", "run.yaml", "--json"});
  EXPECT_EQ(second.code, kDone);
  EXPECT_THAT(second.err, HasSubstr("done already"));
  const Json json = Json::parse(second.out);
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["evaluations"].size(), 2U);
  EXPECT_EQ(json["run_id"], run_folders().front().filename().string());
  EXPECT_TRUE(fs::exists(runs_ / "results.db"));
}

TEST_F(ProgramTest, TrainQuietSaysNothingButResults) { EXPECT_EQ(run({"train", "run.yaml", "--quiet"}).err, ""); }

TEST_F(ProgramTest, TrainPrintsTheResolvedConfigurationAndWritesNothing) {
  const ProgramResult result = run({"train", "run.yaml", "seed=4", "--print-config"});
  EXPECT_EQ(result.code, kDone);
  EXPECT_THAT(result.out, AllOf(HasSubstr("seed: 4"), HasSubstr("experiment: run"), HasSubstr("span_penalty: ")));
  EXPECT_FALSE(fs::exists(runs_));
}

// Nine tokens are two rows of four: an epoch is one block of two.
TEST_F(ProgramTest, ALengthInEpochsIsShownInSteps) {
  const ProgramResult config =
      run({"train", "run.yaml", "train.steps=0", "train.block=2", "train.epochs=7", "--print-config"});
  EXPECT_THAT(config.out, AllOf(HasSubstr("steps: 7\n"), HasSubstr("epochs: 0"))) << config.err;
  write_sweep("sweep: {grid: {train.epochs: [3, 40]}}\n");
  const std::vector<std::string> plan{"sweep", "sweep.yaml", "train.steps=0", "train.block=2", "--dry-run"};
  EXPECT_THAT(run(plan).out, HasSubstr("  steps"));
  std::vector<std::string> json = plan;
  json.emplace_back("--json");
  const Json runs = Json::parse(run(json).out);
  EXPECT_EQ(runs[0]["steps"], 3);
  EXPECT_EQ(runs[1]["steps"], 40);
}

TEST_F(ProgramTest, TrainStopsOnASignalAndGoesOn) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  program.kill(SIGINT);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.code, kStopped);
  EXPECT_THAT(stopped.err, HasSubstr("run the same command again"));
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_EQ(steps(run_folders().front()).size(), 10U);
}

TEST_F(ProgramTest, NobodyToTellIsNoReasonToEnd) {
  const std::string xlm = XLM_FAKE_BINARY;
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  int seed = 10;
  for (const char* nobody : {"2>/dev/full", "2>&-", "2>&1 >/dev/null | true"}) {
    fs::remove_all(runs_);
    // The pipe's exit code is that of its reader.
    shell(folder_.path(), fmt::format("{} train run.yaml seed={} {}", xlm, ++seed, nobody));
    expect_all_done(1);
    const ProgramResult sweep = shell(folder_.path(), fmt::format("{} sweep sweep.yaml {}", xlm, nobody));
    EXPECT_EQ(sweep.code, kDone) << nobody;
    expect_all_done(3);
  }
  EXPECT_EQ(shell(folder_.path(), xlm + " train nowhere.yaml 2>/dev/full").code, kUsage);
  EXPECT_EQ(shell(folder_.path(), xlm + " runs ls >&-").code, kFailed) << "results that nobody gets are a failure";
}

TEST_F(ProgramTest, ATerminalThatGoesAwayIsARequestToStop) {
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  first.kill(SIGHUP);
  EXPECT_EQ(first.wait().code, kStopped);
  EXPECT_EQ(checkpoint_step(read_run(run_folders().front())), 3);
  BackgroundProgram ignoring(
      {"/bin/sh", "-c", std::string("trap '' HUP; exec ") + XLM_FAKE_BINARY + " train run.yaml seed=2"},
      folder_.path());
  until([&] { return count_running() == 1; });
  ignoring.kill(SIGHUP);
  fs::remove(hold());
  EXPECT_EQ(ignoring.wait().code, kDone) << "as nohup wants it";
}

TEST_F(ProgramTest, DeeplyNestedJsonIsALineThatIsLeftOut) {
  run({"train", "run.yaml"});
  const fs::path folder = run_folders().front();
  const std::string nested = std::string(100000, '[') + std::string(100000, ']');
  const std::string environment = read_file(folder / "environment.json");
  std::ofstream(folder / "journal.jsonl", std::ios::app)
      << R"({"type": "evaluation", "step": 10, "split": "test", "settings": {"a": )" << nested << "}}\n";
  const ProgramResult list = run({"runs", "ls", "--json"});
  EXPECT_EQ(list.code, kDone);
  EXPECT_THAT(list.err, HasSubstr("1 malformed line is left out"));
  EXPECT_EQ(Json::parse(list.out).at(0)["status"], "done");
  for (const char* file : {"environment.json", "lock.9"}) write_file(folder / file, "{\"contents\": " + nested + "}");
  EXPECT_THAT(run({"runs", "show", folder.filename().string()}).err, HasSubstr("too deep"));
  write_file(folder / "environment.json", environment);
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  for (const char* file : {"meta.json", "vocab.json"}) {
    const fs::path data = make_data(folder_.path() / file);
    write_file(data / file, "{\"a\": " + nested + "}");
    const ProgramResult result = run({"train", "run.yaml", "data.path=" + data.string()});
    EXPECT_EQ(result.code, kBadData);
    EXPECT_THAT(result.err, HasSubstr("too deep")) << file;
  }
}

TEST_F(ProgramTest, ARunFolderWithoutItsConfigurationIsGivenItAgain) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  run({"sweep", "sweep.yaml"});
  const fs::path folder = run_folders().front();
  for (const std::string& damage : {std::string(), std::string("model: [")}) {
    const std::string config = read_file(folder / "config.yaml");
    if (damage.empty()) fs::remove(folder / "config.yaml");
    if (!damage.empty()) write_file(folder / "config.yaml", damage);
    EXPECT_THAT(run({"sweep", "sweep.yaml", "--dry-run"}).out, HasSubstr("its config.yaml is missing or damaged"));
    EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
    EXPECT_EQ(read_file(folder / "config.yaml"), config);
    expect_all_done(2);
    EXPECT_EQ(steps(folder).size(), 10U) << "what was done is not done again";
  }
}

TEST_F(ProgramTest, ADamagedCopyOfTheProgramIsMadeAnew) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  run({"sweep", "sweep.yaml"});
  fs::path copy;
  for (const auto& entry : fs::recursive_directory_iterator(runs_ / ".programs")) {
    if (entry.path().filename() == "xlm") copy = entry.path();
  }
  write_file(copy, "#!/bin/sh\nexit 9\n");
  fs::permissions(copy, fs::perms(0755));
  const ProgramResult again = run({"sweep", "sweep.yaml", "sweep.grid.seed=[2]"});
  EXPECT_EQ(again.code, kDone) << again.err;
  expect_all_done(2);
}

TEST_F(ProgramTest, AFileThatMayNotGrowIsAnErrorThatLeavesNothing) {
  const ProgramResult result =
      shell(folder_.path(), std::string("ulimit -f 1; exec ") + XLM_FAKE_BINARY + " train run.yaml");
  EXPECT_EQ(result.code, kOutOfResources) << result.err;
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_TRUE(fs::is_empty(runs_));
}

TEST_F(ProgramTest, ASweepWithoutRoomForItsProgramLeavesNoPartOfIt) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const ProgramResult result =
      shell(folder_.path(), std::string("ulimit -f 2000; exec ") + XLM_FAKE_BINARY + " sweep sweep.yaml");
  EXPECT_EQ(result.code, kOutOfResources) << result.err;
  EXPECT_TRUE(fs::is_empty(runs_ / ".programs"));
}

TEST_F(ProgramTest, AFileThatIsCutShortWhileItIsReadIsAnError) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  program.kill(SIGBUS);  // what a read beyond the end of a mapped file raises
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, kBadData);
  EXPECT_THAT(result.err, HasSubstr("a file was cut short while it was read"));
}

TEST_F(ProgramTest, MoreThreadsThanThereCanBeAreAnError) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer itself needs more address space than the limit leaves";
#endif
  const ProgramResult result = shell(
      folder_.path(), std::string("ulimit -v 2000000; exec ") + XLM_FAKE_BINARY + " train run.yaml train.threads=4096");
  EXPECT_EQ(result.code, kOutOfResources);
  EXPECT_THAT(result.err, HasSubstr("train.threads: this process can have"));
}

TEST_F(ProgramTest, NamesThatAreNoUtf8AreReplacedInJson) {
  const std::string name = "caf\xE9";
  const ProgramResult result = run({"train", "run.yaml", "--json", "--runs", name});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_EQ(Json::parse(run({"runs", "sync", "--json", "--runs", name}).out)["store"], "caf\xEF\xBF\xBD/results.db");
  make_data(folder_.path() / name);
  EXPECT_EQ(run({"data", "show", name, "--json"}).code, kDone);
}

TEST_F(ProgramTest, NamesThatNoFileSystemTakesAreDataErrors) {
  fs::create_symlink("round", folder_.path() / "round");
  const std::string endless(300, 'x');
  const std::vector<std::vector<std::string>> commands{{"train", "run.yaml", "data.path=" + endless},
                                                       {"train", "run.yaml", "--runs", endless},
                                                       {"runs", "ls", "--runs", "round"},
                                                       {"report", "round"},
                                                       {"eval", endless, "--data", "data"}};
  for (const std::vector<std::string>& command : commands) {
    const ProgramResult result = run(command);
    EXPECT_EQ(result.code, kBadData) << command.front() << ": " << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("filesystem error")));
  }
}

TEST_F(ProgramTest, SqlKeepsColumnsOfEqualName) {
  run({"train", "run.yaml"});
  const ProgramResult result = run({"runs", "sql", "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a", "--format", "json"});
  EXPECT_EQ(Json::parse(result.out).at(0), (Json{{"a", 1}, {"a_2", 2}, {"a_2_2", 3}, {"a_3", 4}})) << result.out;
}

TEST_F(ProgramTest, WhatRemovingLeftDoesNotStandInItsWay) {
  run({"train", "run.yaml"});
  const std::string id = run_folders().front().filename().string();
  for (const std::string& left : {"." + id + ".removed", std::string(".other.removed")}) {
    create_folders(runs_ / left / "model");
  }
  EXPECT_EQ(run({"runs", "rm", id, "--yes"}).code, kDone);
  for (const auto& entry : fs::directory_iterator(runs_)) EXPECT_EQ(entry.path().filename(), "results.db");
}

TEST_F(ProgramTest, AFigureOfTextSaysThatItIsText) {
  run({"train", "run.yaml"});
  write_file(folder_.path() / "f.yaml", "figure: F\nx: seed\ny: model.span_type\n");
  const ProgramResult result = run({"figure", "f.yaml", "--out", "f.html"});
  EXPECT_EQ(result.code, kBadData);
  EXPECT_THAT(result.err, HasSubstr("model.span_type is text ('adaptive'), and numbers are drawn"));
  write_file(folder_.path() / "f.yaml", "figure: F\nkind: heatmap\nx: seed\ny: train.steps\nvalue: model.type\n");
  EXPECT_THAT(run({"figure", "f.yaml", "--out", "f.html"}).err, HasSubstr("model.type is text ('adaptive-span')"));
}

TEST_F(ProgramTest, TrainRefusesARunThatAnotherProcessDoes) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  const ProgramResult second = run({"train", "run.yaml"});
  EXPECT_EQ(second.code, kFailed);
  EXPECT_THAT(second.err, HasSubstr("is being done by process"));
  fs::remove(hold());
  EXPECT_EQ(program.wait().code, kDone);
}

TEST_F(ProgramTest, TrainReportsDivergence) {
  order("diverge-at=5");
  const ProgramResult result = run({"train", "run.yaml", "--json"});
  EXPECT_EQ(result.code, kDiverged);
  EXPECT_EQ(Json::parse(result.out)["status"], "diverged");
  EXPECT_THAT(result.err, HasSubstr("NaN at step 5"));
  EXPECT_THAT(run({"train", "run.yaml"}).err, HasSubstr("--retry"));
}

TEST_F(ProgramTest, BadInputHasTheDocumentedCodesAndMessages) {
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string message;
  };
  write_file(folder_.path() / "file", "");
  write_file(folder_.path() / "broken.yaml", "model: [\n");
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const std::vector<Case> cases{
      {{"train"}, kUsage, "a configuration file is needed"},
      {{"train", "nothing.yaml"}, kUsage, "nothing.yaml"},
      {{"train", "broken.yaml"}, kUsage, "broken.yaml:"},
      {{"train", "run.yaml", "optimiser.lr=1"}, kUsage, "did you mean 'optimizer'"},
      {{"train", "run.yaml", "seed"}, kUsage, "not KEY=VALUE"},
      {{"train", "run.yaml", "--profile", "smoke"}, kUsage, "has no profiles"},
      {{"train", "run.yaml", "data.path=nowhere"}, kBadData, "xlm prepare-data"},
      {{"train", "run.yaml", "data.path=."}, kBadData, "meta.json"},
      {{"train", "run.yaml", "--runs", "file"}, kBadData, "file"},
      {{"train", "run.yaml", "model.init_from=nothing"}, kBadData, "no run or model folder 'nothing'"},
      {{"train", "run.yaml", "--jbs", "2"}, kUsage, "unknown option"},
      {{"sweep"}, kUsage, "file is required"},
      {{"sweep", "sweep.yaml", "--launcher", "locl"}, kUsage, "did you mean 'local'"},
      {{"sweep", "sweep.yaml", "--jobs", "0"}, kUsage, "--jobs"},
      {{"sweep", "sweep.yaml", "sweep.gird.seed=[1]"}, kUsage, "did you mean 'grid'"},
      {{"sweep", "sweep.yaml", "data.path=nowhere"}, kBadData, "xlm prepare-data"},
      {{"sweep", "sweep.yaml", "--runs", "file"}, kBadData, "file"},
      {{"eval", "nothing"}, kBadData, "no run or model folder 'nothing'"},
      {{"eval", "data"}, kBadData, "neither a run nor a model folder"},
      {{"worker", "data"}, kBadData, "config.yaml"},
      {{"completion", "bsh"}, kUsage, "did you mean 'bash'"}};
  for (const Case& c : cases) {
    const ProgramResult result = run(c.arguments);
    EXPECT_EQ(result.code, c.code) << c.message << "\n" << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("error:"), HasSubstr(c.message)));
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 4) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(!fs::exists(runs_) || run_folders().empty());
}

TEST_F(ProgramTest, SweepDoesAllRunsThenNone) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\ntable: t\n");
  const ProgramResult first = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("3 of 3 runs done"), HasSubstr("2.0300"), HasSubstr("next: xlm table sweep.yaml")));
  expect_all_done(3);
  const ProgramResult again = run({"sweep", "sweep.yaml", "--json"});
  EXPECT_EQ(again.code, kDone);
  EXPECT_EQ(Json::parse(again.out).size(), 3U);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);
}

TEST_F(ProgramTest, SweepSaysWhichTableIsNext) {
  write_sweep(
      "sweep: {grid: {seed: [1]}}\ntables: [{table: t, rows: seed, cells: {value: test.loss}}]\nprofiles: {quick: "
      "{train: {steps: "
      "9}}}\n");
  const ProgramResult result =
      run({"sweep", "sweep.yaml", "--profile", "quick", "--runs", "elsewhere", "experiment=mine"});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr("next: xlm table sweep.yaml --profile quick --experiment=mine --runs elsewhere\n"));
  EXPECT_EQ(run({"table", "sweep.yaml", "--profile", "quick", "--experiment=mine", "--runs", "elsewhere"}).err, "");
}

TEST_F(ProgramTest, DryRunListsRunsAndCostsAndWritesNothing) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  const ProgramResult text = run({"sweep", "sweep.yaml", "--dry-run"});
  EXPECT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("2 of 2 runs to do"), HasSubstr("nothing was written")));
  const Json json = Json::parse(run({"sweep", "sweep.yaml", "--dry-run", "--json"}).out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["status"], "new");
  EXPECT_EQ(json[0]["params"], 1003);
  EXPECT_EQ(json[1]["values"]["seed"], 2);
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramTest, SweepGoesOnPastFailuresAndSaysWhatFailed) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  order("seed=1:diverge-at=5 seed=2:fail-at=5 seed=3:kill-at=5");
  const ProgramResult result = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 4 runs done, 3 failed"), HasSubstr("NaN at step 5"),
                                HasSubstr("something broke"), HasSubstr("killed by signal 9")));
  order("");
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(again.code, kFailed);
  EXPECT_THAT(again.out, AllOf(HasSubstr("3 of 4 runs done, 1 failed"), HasSubstr("--retry")));
}

TEST_F(ProgramTest, SweepStopsOnASignalAndGoesOn) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  program.kill(SIGTERM);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.code, kStopped) << stopped.err;
  EXPECT_EQ(count_running(), 0U);
  fs::remove(hold());
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);
  expect_all_done(3);
}

TEST_F(ProgramTest, WorkersDieWithTheirSweepAndNoRunIsLostOrDoneTwice) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  program.kill(SIGKILL);
  program.wait();
  until([&] { return count_running() == 0; });
  fs::remove(hold());
  const ProgramResult again = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(again.code, kDone) << again.err << again.out;
  expect_all_done(4);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);  // workers saved before they went
}

TEST_F(ProgramTest, TwoSweepsAtOnceShareTheRuns) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  BackgroundProgram one = start({"sweep", "sweep.yaml", "--jobs", "2"});
  BackgroundProgram two = start({"sweep", "sweep.yaml", "--jobs", "2"});
  const ProgramResult first = one.wait();
  const ProgramResult second = two.wait();
  EXPECT_EQ(first.code, kDone) << first.err << first.out;
  EXPECT_EQ(second.code, kDone) << second.err << second.out;
  expect_all_done(6);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(ProgramTest, EditingTheConfigurationChangesNothingThatIsQueued) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  write_sweep("seed: broken\n");
  fs::remove(hold());
  EXPECT_EQ(program.wait().code, kDone);
  expect_all_done(2);
}

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
  EXPECT_THAT(result.err, HasSubstr("config.yaml is damaged: it does not say data.path\nname the data with --data"));
}

TEST_F(ProgramTest, EvalOfAModelFolderMakesARunFolderOfItsOwn) {
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
  // make_data calls all its data "abc": what tells them apart is their content.
  const ProgramResult other =
      run({"runs", "sql", "SELECT runs, mean, sd FROM evaluation_seeds WHERE metric = 'bpc' AND at <> ''", "--format",
           "json"});
  const Json row = Json::parse(other.out).at(0);
  EXPECT_EQ(row["runs"], 3);
  EXPECT_NEAR(row["mean"].get<double>(), 2.22, 1e-9);
  EXPECT_NEAR(row["sd"].get<double>(), 0.01, 1e-6);
}

/// A stateless model trained once and read at every overlap, beside recurrent ones trained at each: as in the
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
                               HasSubstr("an evaluation of it failed")));
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

TEST_F(ProgramTest, ASweepRefusesEvaluationsThatCannotBeMadeBeforeItWritesAnything) {
  write_file(folder_.path() / "sweep.yaml", window_config("data", "evaluate: {model.overlap: 8}\n"));
  const ProgramResult wrong = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(wrong.code, kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("must be less than model.window"));
  write_file(folder_.path() / "sweep.yaml", window_config("data", "evaluate: {data.path: nowhere}\n"));
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kBadData);
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramTest, EvalRefusesAWrongSplitOrKey) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  const ProgramResult split = run({"eval", id, "--split", "tets"});
  EXPECT_EQ(split.code, kUsage);
  EXPECT_THAT(split.err, HasSubstr("did you mean 'test'"));
  EXPECT_EQ(run({"eval", id, "model.span=3"}).code, kUsage);
  EXPECT_EQ(run({"eval", id, "--data", "nowhere"}).code, kBadData);
}

TEST_F(ProgramTest, CompletionCoversEveryCommandAndKey) {
  const ProgramResult bash = run({"completion", "bash"});
  EXPECT_EQ(bash.code, kDone);
  EXPECT_THAT(bash.out, AllOf(HasSubstr("prepare-data"), HasSubstr("--dry-run"), HasSubstr("optimizer.lr="),
                              Not(HasSubstr("worker")), Not(HasSubstr("--print-reference"))));
  for (const char* shell : {"zsh", "fish"}) EXPECT_THAT(run({"completion", shell}).out, HasSubstr("sweep")) << shell;
  BackgroundProgram check({"/bin/bash", "-c",
                           bash.out + "\nCOMP_WORDS=(xlm sweep --dry); COMP_CWORD=2; _xlm; "
                                      "echo \"${COMPREPLY[@]}\""},
                          folder_.path());
  EXPECT_THAT(check.wait().out, HasSubstr("--dry-run"));
}

TEST_F(ProgramTest, WhatARecipeRequiresIsAskedForBeforeAnythingIsDone) {
  write_file(
      folder_.path() / "sweep.yaml",
      run_config("data",
                 "require: [model.init_from]\nsweep: {grid: {seed: [1, 2]}}\n"
                 "tables: [{table: T, rows: seed, cells: {value: test.bpc}}]\nprofiles: {small: {require: null}}\n"));
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"sweep", "sweep.yaml"}, {"sweep", "sweep.yaml", "--dry-run"}, {"train", "sweep.yaml"}}) {
    const ProgramResult refused = run(arguments);
    EXPECT_EQ(refused.code, kUsage);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("sweep.yaml:5: model.init_from is missing, and the file requires it"),
                                   HasSubstr("add model.init_from=…: run id, run folder")));
  }
  EXPECT_FALSE(fs::exists(runs_));
  const ProgramResult done = run({"sweep", "sweep.yaml", "--profile", "small"});
  EXPECT_EQ(done.code, kDone) << done.err;
  // Looking at results trains nothing.
  EXPECT_EQ(run({"table", "sweep.yaml"}).code, kDone);
  EXPECT_EQ(run({"report", "sweep.yaml"}).code, kDone);
  const std::string model = (run_folders().front() / "model").string();
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--dry-run", "model.init_from=" + model}).code, kDone);
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
}

}  // namespace
}  // namespace xlm
