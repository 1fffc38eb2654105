// Sweeps on a real Slurm.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "experiments/launchers/slurm.h"
#include "tests/experiments/program_fixture.h"
#include "tests/experiments/slurm_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SlurmTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(6);
    write_sweep("resources: {cpus: 1, time: 5min}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}\n");
  }

  void TearDown() override {
    fs::remove(hold());
    slurm_.stop();
  }

  ProgramResult submit_workers(const std::string& jobs) {
    return run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", jobs});
  }

  std::size_t count_jobs() const { return slurm_.jobs().size(); }

  /// Waits until all runs are done and no worker is left.
  void until_all_done(std::size_t count) {
    LocalSlurm::until([&] {
      slurm_.start_requeued();
      return count_done(run_folders()) == count && count_jobs() == 0;
    });
  }

  void expect_results_of_a_local_sweep() {
    EXPECT_EQ(run({"sweep", "sweep.yaml", "--jobs", "3", "--runs", "local"}).code, kDone);
    const std::vector<std::string> question{"runs",     "ls", "--columns", "seed,valid.bpc,test.bpc,status",
                                            "--format", "csv"};
    std::vector<std::string> elsewhere = question;
    elsewhere.insert(elsewhere.end(), {"--runs", "local"});
    const auto sorted = [](const std::string& text) {
      std::vector<std::string> lines = split(text, '\n');
      std::sort(lines.begin(), lines.end());
      return lines;
    };
    EXPECT_EQ(sorted(run(question).out), sorted(run(elsewhere).out));
  }

  LocalSlurm slurm_{folder_.path()};
};

TEST_F(SlurmTest, WorkersDoEveryRunOnceAndASecondSubmissionAddsNone) {
  write_file(hold(), "");
  BackgroundProgram one = start({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4"});
  BackgroundProgram two = start({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4"});
  const ProgramResult first = one.wait();
  const ProgramResult second = two.wait();
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_EQ(second.code, kDone) << second.err;
  EXPECT_THAT(first.out + second.out,
              AllOf(HasSubstr("4 workers in partition main"), HasSubstr("nothing was submitted")));
  EXPECT_EQ(count_jobs(), 4U);
  until([&] { return count_running() == 4; });
  BackgroundProgram waiting = start({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4", "--wait"});
  fs::remove(hold());
  const ProgramResult all = waiting.wait();
  EXPECT_EQ(all.code, kDone) << all.err;
  EXPECT_THAT(all.out, HasSubstr("12 of 12 runs done"));
  LocalSlurm::until([&] { return count_jobs() == 0; });
  expect_all_done(12);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
  expect_results_of_a_local_sweep();
  const ProgramResult again = submit_workers("4");
  EXPECT_EQ(again.code, kDone);
  EXPECT_THAT(again.out, AllOf(HasSubstr("12 of 12 runs done"), Not(HasSubstr("submitted job"))));
  EXPECT_EQ(count_jobs(), 0U);
}

TEST_F(SlurmTest, WorkersThatAreRequeuedCancelledAndKilledLoseNothing) {
  write_file(hold(), "");
  EXPECT_EQ(submit_workers("4").code, kDone);
  until([&] { return count_running() == 4; });
  const std::string job = slurm_.squeue("%F").substr(0, slurm_.squeue("%F").find('\n'));
  EXPECT_EQ(shell(folder_.path(), "scontrol requeue " + job + "_0 && scancel " + job + "_1").code, 0);
  until([&] { return count_running() == 2; });
  for (const fs::path& folder : run_folders()) {  // a process that does a run, not the one that started it
    const auto present = read_live_run(folder);
    if (present.status != RunStatus::kRunning) continue;
    EXPECT_EQ(::kill(static_cast<pid_t>(present.history.back().pid), SIGKILL), 0);
    break;
  }
  LocalSlurm::until([&] { return slurm_.squeue("%i %r").find(job + "_0 BeginTime") != std::string::npos; });
  EXPECT_EQ(count_jobs(), 3U) << "a cancelled worker stays away: " << slurm_.squeue("%i %T");
  fs::remove(hold());
  until_all_done(12);
  expect_all_done(12);
  expect_results_of_a_local_sweep();
}

TEST_F(SlurmTest, AWorkerPreemptedByAnUrgentJobResumesLater) {
  write_file(hold(), "");
  EXPECT_EQ(submit_workers("4").code, kDone);
  until([&] { return count_running() == 4; });
  EXPECT_EQ(shell(folder_.path(), "sbatch -p urgent -n 6 --wrap 'sleep 1'").code, 0);
  until([&] { return count_running() == 0; });
  fs::remove(hold());
  until_all_done(12);
  expect_all_done(12);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;  // it had saved
}

TEST_F(SlurmTest, ARunLongerThanTheTimeOfAWorkerIsResumed) {
  write_sweep("resources: {cpus: 1, time: 1min}\nsweep: {grid: {seed: [1, 2, 3]}}\n");
  write_file(hold(), "");
  EXPECT_EQ(submit_workers("2").code, kDone);
  until([&] { return count_running() == 2; });
  until([&] { return count_running() == 0; });  // told to save half a minute before the end
  LocalSlurm::until([&] { return slurm_.squeue("%r").find("BeginTime") != std::string::npos; });
  fs::remove(hold());
  until_all_done(3);
  expect_all_done(3);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(SlurmTest, ALocalSweepAndSubmittedWorkersShareTheRuns) {
  write_file(hold(), "");
  BackgroundProgram local = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  const ProgramResult submitted = submit_workers("3");
  EXPECT_EQ(submitted.code, kDone) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr("10 of 12 runs to do, 2 running"));
  until([&] { return count_running() == 5; });
  fs::remove(hold());
  EXPECT_EQ(local.wait().code, kDone);
  until_all_done(12);
  expect_all_done(12);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(SlurmTest, AFailedRunIsTriedOnceForEachSubmission) {
  write_sweep("resources: {cpus: 1, time: 5min}\nsweep: {grid: {seed: [1, 2, 3]}}\n");
  order("seed=1:fail-at=5 seed=2:kill-at=5");
  const ProgramResult result = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--wait"});
  EXPECT_EQ(result.code, kFailed) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 3 runs done, 2 failed"), HasSubstr("something broke"),
                                HasSubstr("3 times in a row")));
  LocalSlurm::until([&] { return count_jobs() == 0; });
  std::size_t tries = 0;
  std::string journals;
  for (const fs::path& folder : run_folders()) {
    const std::vector<int> done = steps(folder);
    tries += static_cast<std::size_t>(std::count(done.begin(), done.end(), 5));
    journals += read_file(folder / "journal.jsonl");
  }
  EXPECT_EQ(tries, 5U) << "one that fails, three that are killed, and one that goes well\n" << journals;
  order("");
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--wait"}).code, kDone);
}

/// GPUs that Slurm counts but no machine has.
class SlurmTestWithGpus : public SlurmTest {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(6, 2);
  }
};

TEST_F(SlurmTestWithGpus, EveryWorkerHasAGpuAndNoMoreRunThanThereAre) {
  std::string config = run_config("data", "sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  config.replace(config.find("device: cpu"), 11, "device: cuda");
  write_file(folder_.path() / "sweep.yaml", config);
  write_file(folder_.path() / "site.yaml",
             "resources: {cpus: 1, time: 5min}\nsetup: ['echo gpus $SLURM_GPUS_ON_NODE']\n");
  write_file(hold(), "");
  const ProgramResult submitted =
      run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4", "--site", "site.yaml"});
  EXPECT_EQ(submitted.code, kDone) << submitted.err;
  until([&] { return count_running() == 2; });
  LocalSlurm::until([&] { return slurm_.squeue("%T %r").find("PENDING Resources") != std::string::npos; });
  EXPECT_EQ(count_running(), 2U);
  fs::remove(hold());
  until_all_done(6);
  expect_all_done(6);
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(runs_ / ".workers")) {
    const std::string text = entry.path().extension() == ".log" ? read_file(entry.path()) : "";
    if (const std::size_t at = text.find("gpus "); at != std::string::npos) seen.insert(text.substr(at, 6));
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("gpus 1"));
}

TEST_F(SlurmTest, TheQueueSaysHowAJobEnded) {
  const auto submitted = [&](const std::string& what) {
    return std::string(trim(shell(folder_.path(), "sbatch --parsable " + what).out));
  };
  const std::string waits = submitted("-n 6 --hold --wrap true");
  EXPECT_EQ(job_state(waits), "PENDING");
  const std::string runs = submitted("--wrap 'sleep 60'");
  LocalSlurm::until([&] { return job_state(runs) == "RUNNING"; });
  EXPECT_EQ(shell(folder_.path(), "scancel " + runs + " " + waits).code, 0);
  LocalSlurm::until([&] { return job_state(runs) == "CANCELLED"; });
  EXPECT_EQ(job_state(waits), "CANCELLED");
  const std::string fails = submitted("--wrap 'exit 3'");
  LocalSlurm::until([&] { return job_state(fails) == "FAILED"; });
  EXPECT_EQ(job_state("12345"), "") << "it is unknown";
}

TEST_F(SlurmTest, AStopEndsWorkersAndCancelsJobsThatWait) {
  write_file(hold(), "");
  EXPECT_EQ(submit_workers("8").code, kDone);  // more than the cluster has processors
  until([&] { return count_running() == 6; });
  EXPECT_EQ(run({"runs", "stop", "--where", "experiment=sweep"}).code, kDone);
  LocalSlurm::until([&] { return count_jobs() == 0; });
  EXPECT_EQ(count_done(run_folders()), 0U);
  EXPECT_EQ(count_running(), 0U);
  fs::remove(hold());
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--wait"}).code, kDone);
  expect_all_done(12);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(SlurmTest, AWatchSaysWhyWorkersWait) {
  write_file(hold(), "");
  EXPECT_EQ(submit_workers("8").code, kDone);  // more than the cluster has processors
  until([&] { return count_running() == 6; });
  LocalSlurm::until([&] { return slurm_.squeue("%r").find("Resources") != std::string::npos; });
  const ProgramResult shown = run({"runs", "watch", "sweep.yaml", "--once"});
  EXPECT_EQ(shown.code, kDone) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("0 of 12 runs ended, 6 running"), HasSubstr("6 workers run on "),
                               HasSubstr(", 2 wait: Resources\n")));
  const Json json = Json::parse(run({"runs", "watch", "sweep.yaml", "--json"}).out);
  std::map<std::string, int> found;
  for (const Json& worker : json["workers"]) {
    ++found[worker["state"].get<std::string>() + " " + worker["reason"].get<std::string>()];
  }
  EXPECT_THAT(found, ::testing::ElementsAre(::testing::Pair("PENDING Resources", 2), ::testing::Pair("RUNNING ", 6)));
  fs::remove(hold());
  until_all_done(12);
}

TEST_F(SlurmTest, RunsThatBeginFromRunsOfTheirSweepComeAfterThem) {
  write_sweep(
      "resources: {cpus: 1, time: 5min}\nsweep:\n"
      "  grid: {model.span: [8, 16], seed: [1, 2], model.init_from: [{model.span: 16}]}\n"
      "  when: {model.init_from: {model.span: 8}}\n");
  EXPECT_EQ(submit_workers("3").code, kDone);
  until_all_done(4);
  expect_all_done(4);
  std::map<std::string, double> begun;  // by id, when
  std::map<std::string, double> done;
  for (const fs::path& folder : run_folders()) {
    for (const RunState& state : read_live_run(folder).history) {
      if (state.state == "running") begun.emplace(folder.filename().string(), state.time);
      if (state.state == "done") done[folder.filename().string()] = state.time;
    }
  }
  const Json plan = Json::parse(run({"sweep", "sweep.yaml", "--dry-run", "--json"}).out);
  const auto id = [&](std::size_t i) { return plan[i]["run_id"].get<std::string>(); };
  EXPECT_GE(begun.at(id(0)), done.at(id(2)));
  EXPECT_GE(begun.at(id(1)), done.at(id(3)));
}

/// A cluster that takes at most three tasks in one array.
class SlurmTestWithSmallArrays : public SlurmTest {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(6, 0, "MAX_ARRAY=3");
    write_sweep("resources: {cpus: 1, time: 5min}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\n");
  }
};

TEST_F(SlurmTestWithSmallArrays, MoreWorkersThanAnArrayHoldsAreSeveralArrays) {
  write_file(hold(), "");
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "7", "--dry-run"}).out,
              HasSubstr("#SBATCH --array=0-2\n"));
  const ProgramResult submitted = submit_workers("7");
  EXPECT_EQ(submitted.code, kDone) << submitted.err;
  EXPECT_THAT(submitted.out, ::testing::ContainsRegex("job [0-9]+: 3 workers in .*\nsubmitted job [0-9]+: 3 workers in "
                                                      ".*\nsubmitted job [0-9]+: 1 worker in "));
  std::map<std::string, int> tasks;  // of each array
  for (const std::string& array : slurm_.jobs("%F")) ++tasks[array];
  std::vector<int> sizes;
  for (const auto& [array, size] : tasks) sizes.push_back(size);
  EXPECT_THAT(sizes, ::testing::UnorderedElementsAre(3, 3, 1));
  EXPECT_THAT(submit_workers("7").out, HasSubstr("nothing was submitted"));
  fs::remove(hold());
  until_all_done(8);
  expect_all_done(8);
}

TEST_F(SlurmTest, WhatTheClusterWouldRefuseEndsBeforeAnythingIsWritten) {
  const auto refused = [&](const std::string& resources, const std::string& site) {
    write_sweep(resources + "sweep: {grid: {seed: [1, 2]}}\n");
    write_file(folder_.path() / "site.yaml", site);
    const ProgramResult result = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--site", "site.yaml"});
    EXPECT_EQ(result.code, kUsage) << result.err;
    EXPECT_FALSE(fs::exists(runs_));
    return result.err;
  };
  EXPECT_THAT(refused("", "partition: mian\n"), HasSubstr("no partition 'mian' (did you mean 'main'?)"));
  EXPECT_THAT(refused("resources: {cpus: 64}\n", ""), HasSubstr("sweep.yaml:5: a worker would need 64 CPUs"));
  EXPECT_THAT(refused("resources: {gpus: 1}\n", ""), HasSubstr("more than 0"));
  EXPECT_THAT(refused("", "directives: [--nodelist=nowhere]\n"), HasSubstr("Slurm would not take the job"));
  EXPECT_THAT(refused("", "partitoin: main\n"), HasSubstr("site.yaml:1"));
}

/// Slurm's own parser of directives decides whether words are quoted correctly.
TEST_F(SlurmTest, EveryByteOfAFolderReachesSlurm) {
  std::string odd;
  for (int byte = 1; byte < 256; ++byte) {
    if (std::string_view("/\n\r\\").find(static_cast<char>(byte)) == std::string_view::npos)
      odd += static_cast<char>(byte);
  }
  write_sweep("resources: {cpus: 1}\nsweep: {grid: {seed: [1]}}\n");
  for (const std::string& name : {std::string("a\"b'c$(id)`id`#%j"), odd.substr(0, 125), odd.substr(125)}) {
    runs_ = folder_.path() / name;
    const ProgramResult result = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "1", "--runs", name});
    EXPECT_EQ(result.code, kDone) << result.err;
    until_all_done(1);
    std::size_t logs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(runs_ / ".workers")) {
      logs += entry.path().extension() == ".log" ? 1 : 0;
    }
    EXPECT_EQ(logs, 1U) << name;
  }
}

TEST_F(SlurmTest, ADryRunShowsTheScriptAndWhenItWouldStart) {
  const ProgramResult result = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--dry-run"});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("#SBATCH --array=0-7\n"), HasSubstr("#SBATCH --cpus-per-task=1\n"),
                                HasSubstr("sweep.yaml:5"), HasSubstr("to start at"), HasSubstr("nothing was written")));
  EXPECT_FALSE(fs::exists(runs_));
  EXPECT_EQ(count_jobs(), 0U);
  EXPECT_THAT(run({"sweep", "--print-site"}).out, HasSubstr("#   main (default): 6 to 6 CPUs"));
  write_file(folder_.path() / "site.yaml", "partition: main,urgent\n");
  const ProgramResult either = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--dry-run", "--site", "site.yaml"});
  EXPECT_EQ(either.code, kDone) << either.err;
  EXPECT_THAT(either.out, AllOf(HasSubstr("#SBATCH --partition=main,urgent\n"), HasSubstr("to start at")));
}

TEST_F(SlurmTest, SetupThatFailsEndsAJobBeforeARunBegins) {
  write_file(folder_.path() / "site.yaml", "setup: [module load nothing]\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "1", "--site", "site.yaml"}).code, kDone);
  LocalSlurm::until([&] { return count_jobs() == 0; });
  for (const fs::path& folder : run_folders()) EXPECT_EQ(read_live_run(folder).status, RunStatus::kQueued);
  const ProgramResult log = shell(folder_.path(), "cat runs/.workers/*/*.log");
  EXPECT_THAT(log.out, HasSubstr("setup of the site file failed with code 127: module load nothing\n"));
}

}  // namespace
}  // namespace xlm
