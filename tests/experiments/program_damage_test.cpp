// The program with damaged files, limits and unusual input.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include "base/json.h"
#include "tests/experiments/on_terminal.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, ClosedOutputsDoNotStopARun) {
  const std::string xlm = "'" XLM_FAKE_BINARY "'";
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  int seed = 10;
  for (const char* no_reader : {"2>/dev/full", "2>&-", "2>&1 >/dev/null | true"}) {
    fs::remove_all(runs_);
    // The pipe's exit code is that of its reader.
    shell(folder_.path(), fmt::format("{} train run.yaml seed={} {}", xlm, ++seed, no_reader));
    expect_all_done(1);
    const ProgramResult sweep = shell(folder_.path(), fmt::format("{} sweep sweep.yaml {}", xlm, no_reader));
    EXPECT_EQ(sweep.code, kDone) << no_reader;
    expect_all_done(3);
  }
  EXPECT_EQ(shell(folder_.path(), xlm + " train nowhere.yaml 2>/dev/full").code, kUsage);
  EXPECT_EQ(shell(folder_.path(), xlm + " runs ls >&-").code, kFailed) << "losing the results is a failure";
}

TEST_F(ProgramTest, ATerminalThatGoesAwayIsARequestToStop) {
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  first.kill(SIGHUP);
  EXPECT_EQ(first.wait().code, kStopped);
  EXPECT_EQ(checkpoint_step(read_run(run_folders().front())), 3);
  BackgroundProgram ignoring({"/bin/sh", "-c", "trap '' HUP; exec '" XLM_FAKE_BINARY "' train run.yaml seed=2"},
                             folder_.path());
  until([&] { return count_running() == 1; });
  ignoring.kill(SIGHUP);
  fs::remove(hold());
  EXPECT_EQ(ignoring.wait().code, kDone) << "as nohup wants it";
}

/// Its workers get the signal from the terminal, too, if there is one.
TEST_F(ProgramTest, ASweepStopsIfItsTerminalClosesAndResumes) {
  const WithoutLeakSearch in_its_programs;
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  const auto expect_two_saved = [&] {
    EXPECT_EQ(count_running(), 0U);
    std::size_t saved = 0;
    for (const fs::path& folder : run_folders()) {
      const xlm::Run run = read_live_run(folder);
      EXPECT_NE(run.status, RunStatus::kFailed) << run.reason;
      saved += run.status == RunStatus::kPreempted && checkpoint_step(run) > 0 ? 1 : 0;
    }
    EXPECT_EQ(saved, 2U);
  };
  const auto expect_it_goes_on = [&] {
    fs::remove(hold());
    EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
    expect_all_done(3);
    for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
    fs::remove_all(runs_);
  };
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  sweep.kill_group(SIGHUP);
  EXPECT_EQ(sweep.wait().code, kStopped);
  expect_two_saved();
  expect_it_goes_on();

  write_file(hold(), "");
  OnTerminal before_a_user({XLM_FAKE_BINARY, "sweep", "sweep.yaml", "--jobs", "2"}, folder_.path(), 80);
  ASSERT_TRUE(before_a_user.began());
  until([&] { return count_running() == 2; });
  before_a_user.hang_up();
  EXPECT_EQ(before_a_user.wait(), kStopped) << "whatever becomes of its last words";
  expect_two_saved();
  expect_it_goes_on();
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
  EXPECT_THAT(run({"runs", "show", folder.filename().string()}).err, HasSubstr("too deeply"));
  write_file(folder / "environment.json", environment);
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  for (const char* file : {"meta.json", "vocab.json"}) {
    const fs::path data = make_data(folder_.path() / file);
    write_file(data / file, "{\"a\": " + nested + "}");
    const ProgramResult result = run({"train", "run.yaml", "data.path=" + data.string()});
    EXPECT_EQ(result.code, kBadData);
    EXPECT_THAT(result.err, HasSubstr("too deeply")) << file;
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

TEST_F(ProgramTest, ADamagedCopyOfTheProgramIsReplaced) {
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

TEST_F(ProgramTest, AFileSizeLimitIsAnErrorThatLeavesNoFile) {
  const ProgramResult result = shell(folder_.path(), "ulimit -f 1; exec '" XLM_FAKE_BINARY "' train run.yaml");
  EXPECT_EQ(result.code, kOutOfResources) << result.err;
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_TRUE(fs::is_empty(runs_));
}

TEST_F(ProgramTest, ASweepWithoutRoomForItsProgramLeavesNoPartOfIt) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const ProgramResult result = shell(folder_.path(), "ulimit -f 2000; exec '" XLM_FAKE_BINARY "' sweep sweep.yaml");
  EXPECT_EQ(result.code, kOutOfResources) << result.err;
  EXPECT_TRUE(fs::is_empty(runs_ / ".programs"));
}

TEST_F(ProgramTest, WhatAKilledSweepLeftIsRemovedByTheNext) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  fs::remove_all(runs_ / ".programs");  // or the copy is whole, and no other is made
  const std::vector<fs::path> left{runs_ / ".programs/.new.0123abcd", runs_ / ".new.0123abcd"};
  for (const fs::path& folder : left) {
    create_folders(folder);
    write_file(folder / "half", "of a file");
  }
  const auto sweep_again = [&](const std::string& seed) {
    EXPECT_EQ(run({"sweep", "sweep.yaml", "sweep.grid.seed=[" + seed + "]"}).code, kDone);
  };
  sweep_again("2");
  for (const fs::path& folder : left)
    EXPECT_TRUE(fs::exists(folder)) << "another process may be about to fill " << folder;
  for (const auto& entry : fs::directory_iterator(runs_ / ".programs")) {
    if (entry.path() != left.front()) fs::remove_all(entry.path());
  }
  for (const fs::path& folder : left)
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
  sweep_again("3");
  for (const fs::path& folder : left) EXPECT_FALSE(fs::exists(folder)) << folder;
  expect_all_done(3);
}

TEST_F(ProgramTest, AFileThatIsCutShortWhileItIsReadIsAnError) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  program.kill(SIGBUS);  // what a read beyond the end of a mapped file raises
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, kBadData);
  EXPECT_THAT(result.err, HasSubstr("a file was truncated while it was read"));
}

/// The library's number for it tells a user nothing.
TEST_F(ProgramTest, AnInternalErrorIsExplained) {
  order("slip-at=5");
  const ProgramResult trained = run({"train", "run.yaml"});
  EXPECT_EQ(trained.code, kFailed);
  EXPECT_THAT(trained.err, HasSubstr("unexpected internal error (map::at)\nthis is a bug"));
  EXPECT_THAT(read_live_run(run_folders().front()).reason, HasSubstr("unexpected internal error (map::at)"));
  order("");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  order("slip-at=0");
  const ProgramResult evaluated = run({"eval", run_folders().front().filename().string()});
  EXPECT_EQ(evaluated.code, kFailed);
  EXPECT_THAT(evaluated.err, HasSubstr("error: unexpected internal error (map::at)"));
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

TEST_F(ProgramTest, LeftoversOfARemovalDoNotBlockTheNext) {
  run({"train", "run.yaml"});
  const std::string id = run_folders().front().filename().string();
  for (const std::string& left : {"." + id + ".removed", std::string(".other.removed")}) {
    create_folders(runs_ / left / "model");
  }
  EXPECT_EQ(run({"runs", "rm", id, "--yes"}).code, kDone);
  for (const auto& entry : fs::directory_iterator(runs_)) EXPECT_EQ(entry.path().filename(), "results.db");
}

TEST_F(ProgramTest, AFigureOfATextColumnIsAnError) {
  run({"train", "run.yaml"});
  write_file(folder_.path() / "f.yaml", "figure: F\nx: seed\ny: model.span_type\n");
  const ProgramResult result = run({"figure", "f.yaml", "--out", "f.html"});
  EXPECT_EQ(result.code, kBadData);
  EXPECT_THAT(result.err, HasSubstr("model.span_type is text ('adaptive'), not a number"));
  write_file(folder_.path() / "f.yaml", "figure: F\nkind: heatmap\nx: seed\ny: train.steps\nvalue: model.type\n");
  EXPECT_THAT(run({"figure", "f.yaml", "--out", "f.html"}).err, HasSubstr("model.type is text ('adaptive-span')"));
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

}  // namespace
}  // namespace xlm
