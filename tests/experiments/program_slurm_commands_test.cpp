// Submitting to a cluster with scripts in place of Slurm's commands: what is requested, and why.
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/text.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two nodes in a partition. sbatch refuses jobs with the constraint `a100` that exclude node1, the only node that has
/// it.
class SlurmCommands : public ProgramTest {
 protected:
  void SetUp() override {
    command("scontrol", "printf 'ClusterName = here\\nMaxArraySize = 100\\nSelectTypeParameters = CR_CORE_MEMORY\\n'");
    command("sinfo",
            "case \"$*\" in\n"
            "  *-N*) printf 'node1|idle\\nnode2|idle\\n' ;;\n"
            "  *) echo 'main*|infinite|n/a|4|(null)|2' ;;\n"
            "esac");
    command("squeue", "true");
    command("sbatch",
            "script=$(cat)\n"
            "case $script in\n"
            "  *a100*exclude=node1*) echo 'Requested node configuration is not available' >&2; exit 1 ;;\n"
            "  *) echo 'sbatch: Job 7 to start soon' >&2 ;;\n"
            "esac");
  }

  void command(const std::string& name, const std::string& body) const {
    const fs::path file = folder_.path() / "bin" / name;
    create_folders(file.parent_path());
    write_file(file, "#!/bin/sh\n" + body + "\n");
    ::chmod(file.c_str(), 0755);
  }

  ProgramResult submit(const std::string& arguments = "") const {
    return shell(folder_.path(),
                 "PATH=\"$PWD/bin:$PATH\" '" XLM_FAKE_BINARY "' sweep sweep.yaml --launcher slurm " + arguments);
  }

  ProgramResult dry_run(const std::string& arguments) const {
    return shell(folder_.path(),
                 "PATH=\"$PWD/bin:$PATH\" '" XLM_FAKE_BINARY "' sweep " + arguments + " --launcher slurm --dry-run");
  }
};

TEST_F(SlurmCommands, WhatAWorkerNeedsIsLearnedFromFinishedRunsOfTheSweep) {
  write_file(folder_.path() / "sweep.yaml", run_config("data", "experiment: one\nsweep: {grid: {seed: [2]}}\n"));
  EXPECT_THAT(dry_run("sweep.yaml").out, AllOf(HasSubstr("not set: the cluster's default"), Not(HasSubstr("--time"))));
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const std::string store = read_file(runs_ / "results.db");
  write_file(folder_.path() / "sweep.yaml", run_config("data", "experiment: one\nsweep: {grid: {seed: [2, 3]}}\n"));
  EXPECT_THAT(dry_run("sweep.yaml").out, HasSubstr("steps at the speed of"));
  EXPECT_THAT(dry_run("sweep.yaml resources.time=2h").out, HasSubstr("#SBATCH --time=120\n"));
  EXPECT_EQ(run_folders().size(), 1U);
  EXPECT_EQ(read_file(runs_ / "results.db"), store) << "a dry run writes nothing";
}

TEST_F(SlurmCommands, ANodeThatFailedIsLeftOutWhereAnotherOneCanDoTheWork) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--launcher", "manual"}).code, kDone);
  Journal journal(RunPaths{run_folders().front()}.journal());
  journal.append("state", {{"state", "running"}, {"host", "node1"}, {"pid", 7}, {"job", "here:12_1"}});
  journal.append("state", {{"state", "queued"}, {"cause", "node"}, {"reason", "gone"}});
  EXPECT_THAT(dry_run("sweep.yaml").out, HasSubstr("#SBATCH --exclude=node1\n"));
  write_file(folder_.path() / "site.yaml", "directives: [--constraint=a100]\n");
  const ProgramResult bound = dry_run("sweep.yaml --site site.yaml");
  EXPECT_EQ(bound.code, kDone) << bound.err;
  EXPECT_THAT(bound.out, AllOf(HasSubstr("#SBATCH --constraint=a100\n"), Not(HasSubstr("--exclude"))));
}

/// sbatch gets the script on its input, not in a file that others of a group could change before it reads.
TEST_F(SlurmCommands, TheScriptIsGivenToSbatchItself) {
  command("sbatch",
          "cat >>asked; echo \"[$*]\" >>words\n"
          "case $* in *test-only*) ;; *) printf 'evil\\n' >>runs/.workers/*/worker.sh; echo '12;here' ;; esac");
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const ProgramResult result = submit();
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr("submitted job 12: 1 worker"));
  EXPECT_EQ(read_file(folder_.path() / "words"), "[--test-only]\n[--parsable --array=0-0]\n");
  EXPECT_THAT(read_file(folder_.path() / "asked"), Not(HasSubstr("evil")));
}

TEST_F(SlurmCommands, AJobWithoutANumberIsNotSubmitted) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  for (const char* answer : {"true", "echo 'sbatch: Job 7 to start soon' >&2", "echo slurm 22.05", "echo ';here'",
                             "echo 0", "echo -3", "echo 'Usage: sbatch'"}) {
    command("sbatch", fmt::format("cat >/dev/null\n{}", answer));
    const ProgramResult result = submit();
    EXPECT_EQ(result.code, kFailed) << answer;
    EXPECT_THAT(result.err, HasSubstr("sbatch printed no job number")) << answer;
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("submitted job"))) << answer;
  }
}

/// Some sites print a welcome on every command.
TEST_F(SlurmCommands, AJobBelowABannerIsQueuedAndNotSubmittedTwice) {
  command("sbatch", "cat >/dev/null\ncase $* in *test-only*) ;; *) printf 'Welcome to here!\\n\\n101\\n' ;; esac");
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  const ProgramResult first = submit("--jobs 1");
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out, HasSubstr("submitted job 101: 1 worker"));
  command("squeue", "case $* in *--version*) ;; *) echo '101_0|PENDING|Priority|' ;; esac");
  const ProgramResult second = submit("--jobs 1");
  EXPECT_EQ(second.code, kDone) << second.err;
  EXPECT_THAT(second.out,
              AllOf(HasSubstr("1 worker of this sweep waits or runs already"), Not(HasSubstr("submitted job"))));
}

TEST_F(SlurmCommands, AFolderThatAScriptCannotNameIsRefusedBeforeAnythingIsWritten) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const std::string odd = "ev\"\ntouch INJECTED\n#";
  const ProgramResult result = submit("--runs " + shell_word(odd));
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, HasSubstr("its name has a line end or backslash"));
  EXPECT_FALSE(fs::exists(folder_.path() / odd));
}

}  // namespace
}  // namespace xlm
