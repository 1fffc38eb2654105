// Sweeps whose workers a user starts, by the program, from end to end; and what is refused without a cluster.
#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSweep =
    "resources: {cpus: 1}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n"
    "tables: [{table: t, rows: seed, cells: {value: test.bpc}}]\n";

/// The printed command that starts a worker.
std::vector<std::string> printed_command(const std::string& text) {
  std::smatch match;
  EXPECT_TRUE(std::regex_search(text, match, std::regex("\n  (.* worker --sweep .*)\n"))) << text;
  return split(match[1].str(), ' ');
}

TEST_F(ProgramTest, WorkersThatUsersStartShareASweep) {
  write_sweep(kSweep);
  const ProgramResult submitted = run({"sweep", "sweep.yaml", "--launcher", "manual"});
  EXPECT_EQ(submitted.code, kDone) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr("6 of 6 runs to do"));
  const std::vector<std::string> command = printed_command(submitted.out);
  BackgroundProgram one(command, folder_.path());
  BackgroundProgram two(command, folder_.path());
  const ProgramResult all = run({"sweep", "sweep.yaml", "--launcher", "manual", "--wait"});
  EXPECT_EQ(all.code, kDone) << all.err << all.out;
  EXPECT_EQ(one.wait().code, kDone);
  EXPECT_EQ(two.wait().code, kDone);
  expect_all_done(6);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
  EXPECT_EQ(run({"table", "sweep.yaml"}).code, kDone);
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--launcher", "manual"}).out, HasSubstr("6 of 6 runs done"));
}

TEST_F(ProgramTest, AStoppedWorkerSavesAndAnotherResumes) {
  write_sweep(kSweep);
  const std::vector<std::string> command = printed_command(run({"sweep", "sweep.yaml", "--launcher", "manual"}).out);
  write_file(hold(), "");
  BackgroundProgram worker(command, folder_.path());
  until([&] { return count_running() == 1; });
  worker.kill(SIGTERM);
  EXPECT_EQ(worker.wait().code, kStopped);
  fs::remove(hold());
  EXPECT_EQ(BackgroundProgram(command, folder_.path()).wait().code, kDone);
  expect_all_done(6);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(ProgramTest, ARunWaitsForTheRunOfAnotherSweepFromWhichItBegins) {
  write_sweep("sweep: {grid: {model.span: [8], model.init_from: [{model.span: 16}]}}\n");
  EXPECT_THAT(run({"sweep", "sweep.yaml"}).err, HasSubstr("no other sweep has queued it"));
  write_file(folder_.path() / "first.yaml", run_config("data", "sweep: {grid: {model.span: [16]}}\n"));
  const std::vector<std::string> command = printed_command(run({"sweep", "first.yaml", "--launcher", "manual"}).out);
  BackgroundProgram later = start({"sweep", "sweep.yaml"});
  const auto waits = [&] { return later.standard_error().find("waiting for adaptive-span-") != std::string::npos; };
  until([&] { return waits() || !later.is_running(); });
  EXPECT_TRUE(later.is_running()) << later.standard_error();
  EXPECT_EQ(BackgroundProgram(command, folder_.path()).wait().code, kDone);
  const ProgramResult result = later.wait();
  EXPECT_EQ(result.code, kDone) << result.err << result.out;
  expect_all_done(2);
}

TEST_F(ProgramTest, WaitingEndsWithASignalAndLeavesTheWorkers) {
  write_sweep(kSweep);
  const std::vector<std::string> command = printed_command(run({"sweep", "sweep.yaml", "--launcher", "manual"}).out);
  write_file(hold(), "");
  BackgroundProgram worker(command, folder_.path());
  until([&] { return count_running() == 1; });
  BackgroundProgram waiting = start({"sweep", "sweep.yaml", "--launcher", "manual", "--wait"});
  until([&] { return waiting.standard_error().find("start any number of workers") != std::string::npos; });
  waiting.kill(SIGINT);
  const ProgramResult left = waiting.wait();
  EXPECT_EQ(left.code, kStopped) << left.err;
  EXPECT_THAT(left.out, HasSubstr("the workers continue"));
  EXPECT_TRUE(worker.is_running());
  fs::remove(hold());
  EXPECT_EQ(worker.wait().code, kDone);
  expect_all_done(6);
}

TEST_F(ProgramTest, WithoutASlurmASubmissionEndsBeforeAnythingIsWritten) {
  write_sweep(kSweep);
  const std::string program = "'" XLM_FAKE_BINARY "'";
  const ProgramResult result = shell(folder_.path(), "PATH=/nowhere " + program + " sweep sweep.yaml --launcher slurm");
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.err, AllOf(HasSubstr("there is no scontrol on this machine"), HasSubstr("--launcher manual")));
  EXPECT_FALSE(fs::exists(runs_));
  const ProgramResult site = shell(folder_.path(), "PATH=/nowhere " + program + " sweep --print-site");
  EXPECT_EQ(site.code, kDone);
  EXPECT_THAT(site.out, HasSubstr("# The cluster is unknown"));
}

TEST_F(ProgramTest, WrongUsesOfQueuesAreRefused) {
  write_sweep(kSweep);
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--wait"}).code, kUsage);
  EXPECT_EQ(run({"sweep"}).code, kUsage);
  EXPECT_EQ(run({"sweep", "sweep.yaml", "resources.cpu=1"}).code, kUsage);
  EXPECT_EQ(run({"worker"}).code, kUsage);
  EXPECT_EQ(run({"worker", "--sweep", "nothing.json"}).code, kBadData);
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramTest, TheOptionsThatTheDocsNameAreThere) {
  const std::string docs = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "clusters.md");
  std::string help = run({"sweep", "--help"}).out + run({"worker", "--help"}).out;
  for (const char* command : {"stop", "watch", "merge", "pack"}) help += run({"runs", command, "--help"}).out;
  const std::regex option("`(?:xlm [a-z ]+)?(--[a-z-]+)");
  std::size_t count = 0;
  for (std::sregex_iterator match(docs.begin(), docs.end(), option), end; match != end; ++match, ++count) {
    const std::set<std::string> of_sbatch{"--constraint", "--gres", "--test-only"};
    if (of_sbatch.contains((*match)[1])) continue;
    EXPECT_THAT(help, HasSubstr((*match)[1].str()));
  }
  EXPECT_GT(count, 8U);
}

}  // namespace
}  // namespace xlm
