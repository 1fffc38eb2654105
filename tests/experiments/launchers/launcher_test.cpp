#include "experiments/launchers/launcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "experiments/launchers/list_worker.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/run_progress.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

/// Runs a shell script in place of the program: $1 is the run folder.
class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {
    settings_.jobs = 2;
    settings_.poll_seconds = 0.002;
    settings_.elsewhere_seconds = 0.002;
  }

  std::vector<SweepRun> submitted(const std::string& sweep) {
    std::vector<SweepRun> runs =
        plan_sweep(recipe_of(parse_yaml(run_config(data_, sweep), "sweep.yaml")), runs_, false);
    for (const SweepRun& run : runs) submit(run.planned);
    return runs;
  }

  LaunchReport launch(const std::vector<SweepRun>& runs, const std::string& script) {
    write_file(folder_.path() / "worker.sh", script);
    settings_.worker = {"/bin/sh", (folder_.path() / "worker.sh").string()};
    list_.items = runs;
    return work_on_list(list_, settings_);
  }

  static std::string state(const std::string& name) {
    return "echo '{\"type\":\"state\",\"time\":1,\"state\":\"" + name + "\"}' >> \"$1/journal.jsonl\"\n";
  }

  static RunStatus status(const SweepRun& run) { return read_live_run(run.planned.paths.folder).status; }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  WorkList list_;
  LaunchSettings settings_;
};

TEST_F(LauncherTest, DoesEveryRunAndReportsEachEnd) {
  const auto runs = submitted("sweep: {grid: {seed: [1, 2, 3, 4, 5]}}\n");
  int finished = 0;
  settings_.finished = [&] { ++finished; };
  const LaunchReport report = launch(runs, state("done"));
  EXPECT_FALSE(report.interrupted);
  EXPECT_TRUE(report.ended.empty());
  EXPECT_EQ(finished, 5);
  for (const SweepRun& run : runs) EXPECT_EQ(status(run), RunStatus::kDone);
}

TEST_F(LauncherTest, OneFailureDoesNotStopTheRest) {
  const auto runs = submitted("sweep: {grid: {seed: [1, 2, 3]}}\n");
  const LaunchReport report = launch(runs, "case \"$1\" in *" + runs[0].id() + ") echo broken pipes; exit 3;; *" +
                                               runs[1].id() + ") kill -9 $$;; esac\n" + state("done"));
  EXPECT_EQ(report.ended.size(), 2U);
  EXPECT_THAT(report.ended.at(runs[0].id()), HasSubstr("code 3"));
  EXPECT_THAT(report.ended.at(runs[1].id()), HasSubstr("signal 9"));
  EXPECT_THAT(read_file(runs[0].planned.paths.log()), HasSubstr("broken pipes"));
  EXPECT_EQ(status(runs[2]), RunStatus::kDone);
}

TEST_F(LauncherTest, NeverMoreWorkersThanJobs) {
  const auto runs = submitted("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  // Each worker counts the marks of running workers, with its own. The first one waits for a second.
  launch(runs,
         "cd \"$1/..\"\nmkdir -p working\ntouch working/$$ begun.$$\n"
         "i=0; while [ $(ls | grep -c begun) -lt 2 ] && [ $i -lt 500 ]; do i=$((i+1)); sleep 0.02; done\n"
         "ls working | wc -l >> counts\nrm working/$$\n" +
             state("done"));
  std::ifstream counts(runs_ / "counts");
  std::vector<int> seen;
  for (int count = 0; counts >> count;) seen.push_back(count);
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 2);
}

TEST_F(LauncherTest, ARunOfAnotherSweepIsShownAsSuchWhileAllWorkersAreBusy) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  auto runs = submitted("sweep: {grid: {seed: [1, 2]}}\n");
  const fs::path folder = runs[1].planned.paths.folder;
  auto lock = std::make_unique<RunLock>(folder);  // its worker has begun and not yet said so
  runs[1].action = SweepAction::kWait;
  settings_.jobs = 1;
  char* buffer = nullptr;
  std::size_t size = 0;
  settings_.screen = ::open_memstream(&buffer, &size);
  settings_.terminal = {.is_terminal = true, .colour = false, .width = 120, .height = 30};
  settings_.clock = [now = 0.0]() mutable { return now += 1; };  // every look is due, and every redraw
  int polls = 0;
  settings_.should_stop = [&] {
    std::fflush(settings_.screen);
    const std::string text(buffer, size);
    const std::string drawn = text.substr(std::min(text.rfind("\033[J"), text.size()));
    ++polls;
    if (polls > 2 && polls <= 10) {  // from the first whole picture until both runs may end
      EXPECT_THAT(drawn, HasSubstr("1 running, 1 elsewhere")) << polls;
    }
    if (polls == 10) {
      Journal(folder / "journal.jsonl").append("state", {{"state", "done"}});
      lock.reset();
      write_file(runs_ / "go", "");
    }
    return polls == 10;
  };
  const LaunchReport report = launch(runs, "while [ ! -e \"$1/../go\" ]; do sleep 0.01; done\n" + state("done"));
  std::fclose(settings_.screen);
  std::free(buffer);
  EXPECT_GE(polls, 10);
}

TEST_F(LauncherTest, WorkersGetTheirShareOfCoresAndRetry) {
  const auto runs = submitted("sweep: {grid: {seed: [1]}}\n");
  settings_.retry = true;
  settings_.jobs = 4096;
  launch(runs, "echo \"$2 $3 $4\"\n" + state("done"));
  EXPECT_THAT(read_file(runs[0].planned.paths.log()), HasSubstr("--threads 1 --retry"));
}

TEST_F(LauncherTest, EachGpuHasItsOwnWorker) {
  ::setenv("CUDA_VISIBLE_DEVICES", "4,7", 1);
  auto runs = submitted("sweep: {grid: {seed: [1, 2]}}\n");
  for (SweepRun& run : runs) run.planned.options.device = "auto";
  settings_.jobs = 0;
  const std::string wait_for_both =
      "touch \"$1/../$CUDA_VISIBLE_DEVICES\"\nwhile [ ! -e \"$1/../4\" ] || [ ! -e \"$1/../7\" ]"
      "; do :; done\n";
  launch(runs, wait_for_both + state("done"));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(fs::exists(runs_ / "4"));
  EXPECT_TRUE(fs::exists(runs_ / "7"));
}

/// The largest number of parallel workers on one GPU of 10 GB, if each run takes 2 GB.
TEST_F(LauncherTest, AsManyRunsShareAGpuAsFitOnceOneHasShownItsMemory) {
  ::setenv("CUDA_VISIBLE_DEVICES", "4", 1);
  settings_.jobs = 0;
  const auto most_at_once = [&](const std::string& seeds, int all) {
    auto runs = submitted("sweep: {grid: {seed: [" + seeds + "]}}\n");
    for (SweepRun& run : runs) run.planned.options.device = "auto";
    fs::remove(runs_ / "counts");
    launch(runs,
           fmt::format("cd \"$1\"\nsed -i '0,/{{/s//{{\"gpu_memory\": \"10000000000\",/' environment.json\n"
                       "echo '{{\"type\":\"costs\",\"time\":1,\"values\":{{\"peak_memory\":2e9}}}}' >> journal.jsonl\n"
                       "cd ..\nmkdir -p working\ntouch working/$$ begun.$$\n"
                       "i=0; while [ -e first ] && [ $(ls | grep -c begun) -lt {} ] && [ $i -lt 500 ]; do "
                       "i=$((i+1)); sleep 0.02; done\n"
                       "touch first\nls working | wc -l >> counts\nrm working/$$\ncd \"$1\"\n",
                       all) +
               state("done"));
    std::ifstream counts(runs_ / "counts");
    int most = 0;
    for (int count = 0; counts >> count;) most = std::max(most, count);
    return most;
  };
  EXPECT_EQ(most_at_once("1", 1), 1);
  EXPECT_EQ(most_at_once("1, 2, 3, 4, 5, 6", 4), 3) << "0.9 · 10 GB of 2 GB and 0.6 GB in addition each";
  list_.runs_per_gpu = 2;
  EXPECT_EQ(most_at_once("7, 8, 9", 8), 2);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

/// The largest number of parallel workers on one GPU of 10 GB, of runs that end only when `all` have begun. Each says
/// while it trains what memory it takes.
TEST_F(LauncherTest, AsManyRunsShareAGpuAsFitOnceOneThatTrainsHasShownItsMemory) {
  ::setenv("CUDA_VISIBLE_DEVICES", "4", 1);
  settings_.jobs = 0;
  const auto most_at_once = [&](const std::string& seeds, int all, int looks, const std::string& costs) {
    auto runs = submitted("sweep: {grid: {seed: [" + seeds + "]}}\n");
    for (SweepRun& run : runs) run.planned.options.device = "auto";
    for (const char* left : {"begun", "working", "counts"}) fs::remove_all(runs_ / left);
    launch(runs,
           fmt::format("cd \"$1\"\nsed -i '0,/{{/s//{{\"gpu_memory\": \"10000000000\",/' environment.json\n"
                       "cd ..\nmkdir -p begun working\ntouch begun/$$ working/$$\n"
                       "echo '{{\"type\":\"metric\",\"time\":1,\"step\":1,\"values\":{{}}}}' >> \"$1/journal.jsonl\"\n"
                       "sleep 0.1\n{}"  // the journal has been looked at before
                       "i=0; while [ $(ls begun | wc -l) -lt {} ] && [ $i -lt {} ]; do i=$((i+1)); sleep 0.02; done\n"
                       "ls working | wc -l >> counts\nrm working/$$\n",
                       costs, all, looks) +
               state("done"));
    std::ifstream counts(runs_ / "counts");
    int most = 0;
    for (int count = 0; counts >> count;) most = std::max(most, count);
    return most;
  };
  const auto costs = [](const std::string& values) {
    return "echo '{\"type\":\"costs\",\"time\":1,\"values\":{" + values + "}}' >> \"$1/journal.jsonl\"\n";
  };
  constexpr int kFor10Seconds = 500;
  constexpr int kForAMoment = 15;
  EXPECT_EQ(most_at_once("1, 2, 3", 3, kFor10Seconds, costs("\"peak_memory\":2e9,\"reserved_memory\":2.4e9")), 3)
      << "0.9 · 10 GB of 2.4 GB and 0.6 GB in addition each";
  EXPECT_EQ(most_at_once("11, 12, 13", 3, kForAMoment, costs("\"peak_memory\":2e9,\"reserved_memory\":3.9e9")), 2);
  EXPECT_EQ(most_at_once("21, 22", 2, kForAMoment, costs("\"peak_memory\":9e9")), 1) << "one fills the GPU";
  EXPECT_EQ(most_at_once("31, 32", 2, kForAMoment, costs("\"params\":5")), 1) << "it does not say";
  settings_.jobs = 1;
  EXPECT_EQ(most_at_once("41, 42", 2, kForAMoment, costs("\"peak_memory\":1e9")), 1) << "as the user says";
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

/// On a CPU the first run has all cores to its end: others would take them from it.
TEST_F(LauncherTest, ARunThatTrainsOnAllCoresStaysAlone) {
  settings_.jobs = 0;
  list_.cores = 8;
  const auto runs = submitted("sweep: {grid: {seed: [1, 2]}}\n");
  launch(runs,
         "cd \"$1\"\nsed -i '0,/{/s//{\"device\": \"cpu\",/' environment.json\n"
         "echo '{\"type\":\"costs\",\"time\":1,\"values\":{\"peak_memory\":1e6}}' >> journal.jsonl\n"
         "[ ! -e ../first ] && touch ../first && sleep 0.3\n"
         "ls .. | grep -c begun. >> ../counts; touch ../begun.$$\n" +
             state("done"));
  EXPECT_EQ(read_file(runs_ / "counts"), "0\n1\n") << "the second began when the first had ended";
}

/// "THREADS of RUNS" for each run of a sweep on a CPU, in order: its threads, and the most running runs that it saw.
/// All but the first wait until `awaited` are running, for this many checks.
TEST_F(LauncherTest, RunsShareTheCoresOnceOneHasShownItsMemory) {
  settings_.jobs = 0;
  const auto shares = [&](const std::string& seeds, double memory, int awaited, int looks = 500) {
    auto runs = submitted("sweep: {grid: {seed: [" + seeds + "]}}\n");
    fs::remove(runs_ / "first");
    fs::remove_all(runs_ / "seen");
    launch(
        runs,
        fmt::format("cd \"$1\"\nsed -i '0,/{{/s//{{\"device\": \"cpu\",/' environment.json\n"
                    "echo '{{\"type\":\"costs\",\"time\":1,\"values\":{{\"peak_memory\":{}}}}}' >> journal.jsonl\n"
                    "cd ..\nmkdir -p working\ntouch working/$$\ni=0; most=1\n"
                    "while [ -e first ] && [ $most -lt {} ] && [ $i -lt {} ]; do i=$((i+1)); sleep 0.02\n"
                    "n=$(ls working | wc -l); [ $n -gt $most ] && most=$n; done\n"
                    "touch first\nif [ $most -gt 1 ]; then\nmkdir -p seen\ntouch seen/$$\ni=0\n"  // all are to see it
                    "while [ $(ls seen | wc -l) -lt {} ] && [ $i -lt 500 ]; do i=$((i+1)); sleep 0.02; done\nfi\n"
                    "rm working/$$\ncd \"$1\"\necho \"$3 of $most\"\n",
                    memory, awaited, looks, awaited) +
            state("done"));
    std::string all;
    for (const SweepRun& run : runs)
      all += (all.empty() ? "" : ", ") + std::string(trim(read_file(run.planned.paths.log())));
    return all;
  };
  list_.cores = 8;
  EXPECT_EQ(shares("1, 2, 3", 1e6, 2), "8 of 1, 4 of 2, 4 of 2");
  list_.cores = 16;
  EXPECT_EQ(shares("11, 12, 13, 14, 15", 1e6, 4), "16 of 1, 4 of 4, 4 of 4, 4 of 4, 4 of 4");
  EXPECT_EQ(shares("21, 22", 1e6, 2, 10), "16 of 1, 16 of 1") << "the last has all cores";
  EXPECT_EQ(shares("31, 32, 33", 1e15, 2, 10), "16 of 1, 16 of 1, 16 of 1") << "more memory than there is";
  list_.cores = 1;
  EXPECT_EQ(shares("41, 42, 43", 1e6, 2, 10), "1 of 1, 1 of 1, 1 of 1");
  list_.cores = 16;
  settings_.jobs = 1;
  EXPECT_EQ(shares("51, 52, 53", 1e6, 2, 10), "16 of 1, 16 of 1, 16 of 1") << "as in a cluster's job";
  settings_.jobs = 0;
  list_.early_stopping = EarlyStopping{"valid.loss", {}, 0.5};
  EXPECT_EQ(shares("61, 62, 63", 1e6, 2, 10), "16 of 1, 16 of 1, 16 of 1") << "all begin before one is done";
}

TEST(RunsThatFit, AreThoseForWhichThatKindOfDeviceHasMemory) {
  xlm::Run run;
  run.costs["peak_memory"] = 2e9;
  run.environment = {{"device", "cpu"}, {"processes", 4}};  // whose memory is added up already
  EXPECT_EQ(runs_that_fit(run, false, 10e9), 4) << "0.9 · 10 GB of 2 GB each";
  EXPECT_EQ(runs_that_fit(run, true, 10e9), std::nullopt) << "a GPU's memory is another";
  run.environment = {{"device", "cuda:0"}, {"gpu_memory", "10000000000"}};
  EXPECT_EQ(runs_that_fit(run, true, 1e9), 3);
  run.costs["reserved_memory"] = 3.2e9;
  EXPECT_EQ(runs_that_fit(run, true, 1e9), 2) << "0.9 · 10 GB of 3.2 GB and 0.6 GB in addition each";
  run.costs["reserved_memory"] = 1e9;
  EXPECT_EQ(runs_that_fit(run, true, 1e9), 3) << "tensors are part of it";
  EXPECT_EQ(runs_that_fit(run, false, 100e9), std::nullopt);
}

TEST_F(LauncherTest, AStopIsPassedOnAndWaitedFor) {
  const auto runs = submitted("sweep: {grid: {seed: [1, 2, 3]}}\n");
  settings_.jobs = 1;
  settings_.should_stop = [&] { return fs::exists(runs_ / "started"); };
  const LaunchReport report = launch(runs, "trap '" + std::string("touch \"$1/saved\"; exit 75' TERM\n") +
                                               "touch \"$1/../started\"\nwhile :; do :; done\n");
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(fs::exists(runs[0].planned.paths.folder / "saved"));
  EXPECT_EQ(status(runs[1]), RunStatus::kQueued);
}

TEST_F(LauncherTest, WaitsForTheRunsOfAnotherSweep) {
  auto runs = submitted("sweep: {grid: {seed: [1]}}\n");
  const fs::path folder = runs[0].planned.paths.folder;
  auto lock = std::make_unique<RunLock>(folder);
  runs[0].action = SweepAction::kWait;
  int polls = 0;
  settings_.should_stop = [&] {
    if (++polls == 5) {
      Journal(folder / "journal.jsonl").append("state", {{"state", "done"}});
      lock.reset();
    }
    return false;
  };
  const LaunchReport report = launch(runs, "exit 9\n");
  EXPECT_TRUE(report.ended.empty());
  EXPECT_GE(polls, 5);
}

TEST_F(LauncherTest, TakesOverARunWhoseOtherWorkerStopped) {
  auto runs = submitted("sweep: {grid: {seed: [1]}}\n");
  const fs::path folder = runs[0].planned.paths.folder;
  auto lock = std::make_unique<RunLock>(folder);
  int polls = 0;
  settings_.should_stop = [&] {
    if (++polls == 5) lock.reset();
    return false;
  };
  launch(runs, state("done"));  // planned to be run here, but held when its turn comes
  EXPECT_EQ(status(runs[0]), RunStatus::kDone);
}

TEST_F(LauncherTest, AProgramThatCannotBeStartedIsAFailureOfItsRun) {
  const auto runs = submitted("sweep: {grid: {seed: [1]}}\n");
  settings_.worker = {"/no/such/program"};
  list_.items = runs;
  const LaunchReport report = work_on_list(list_, settings_);
  EXPECT_EQ(report.ended.size(), 1U);
  EXPECT_THAT(read_file(runs[0].planned.paths.log()), HasSubstr("cannot start /no/such/program"));
}

TEST_F(LauncherTest, UnknownLauncherGetsASuggestion) { EXPECT_THROW(find_launcher("locl"), UsageError); }

TEST(LastMetric, IsFoundBehindOtherRecordsAndATornLine) {
  const TemporaryFolder folder;
  const fs::path journal = folder.path() / "journal.jsonl";
  EXPECT_TRUE(read_progress(journal).metric.is_null());
  write_file(journal,
             "{\"type\":\"metric\",\"step\":1}\n{\"type\":\"metric\",\"step\":2}\n{\"type\":\"checkpoint\"}\n{\"ty");
  EXPECT_EQ(read_progress(journal).metric["step"], 2);
  write_file(journal, "{\"type\":\"state\"}\n");
  EXPECT_TRUE(read_progress(journal).metric.is_null());
}

}  // namespace
}  // namespace xlm
