// The program if other processes move, remove or replace its files, and if folders cannot be renamed.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, ARunWhoseJournalIsRemovedWhileItTrainsEndsWithAnError) {
  write_file(hold(), "");
  BackgroundProgram program = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  const fs::path run_folder = run_folders().front();
  fs::remove(run_folder / "journal.jsonl");
  fs::remove(hold());
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.code, kBadData) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("journal.jsonl was removed or replaced during the run"),
                                HasSubstr("run the same command again")));
  EXPECT_THAT(read_file(run_folder / "log.txt"), HasSubstr("failed: "));
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  expect_all_done(1);
}

TEST_F(ProgramTest, ASweepWhoseRunLosesItsJournalSaysThatItFailed) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  fs::remove(run_folders().front() / "journal.jsonl");
  fs::remove(hold());
  const ProgramResult result = sweep.wait();
  EXPECT_EQ(result.code, kFailed) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 2 runs done"), HasSubstr("1 failed"), HasSubstr("was removed")));
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  expect_all_done(2);
}

TEST_F(ProgramTest, ASweepWhoseFinishedRunIsRemovedSaysSoAndHowTheOthersEnded) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  order("seed=2:pace=1");
  BackgroundProgram first = start({"sweep", "sweep.yaml", "sweep.grid.seed=[1]"});
  ASSERT_EQ(first.wait().code, kDone);
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml"});
  until([&] { return count_running() == 1; });
  for (const fs::path& folder : run_folders()) {
    if (read_live_run(folder).status == RunStatus::kDone) fs::remove_all(folder);
  }
  fs::remove(hold());
  const ProgramResult result = sweep.wait();
  EXPECT_EQ(result.code, kFailed) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 2 runs done"), HasSubstr("its folder was moved or removed")));
}

TEST_F(ProgramTest, AMoveDuringASweepCopiesAndTheSweepContinues) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "sweep.grid.seed=[1]"}).code, kDone);
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  const ProgramResult merged = run({"runs", "merge", "runs", "--move", "--runs", "other"});
  EXPECT_EQ(merged.code, kDone) << merged.err;
  EXPECT_THAT(merged.out, AllOf(HasSubstr("a sweep is using it: it stays there"), HasSubstr("2 added, 1 running")));
  EXPECT_EQ(run_folders().size(), 3U);
  fs::remove(hold());
  const ProgramResult swept = sweep.wait();
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("3 runs: 1 done already\n"));
  EXPECT_THAT(swept.out, HasSubstr("3 of 3 runs done"));
  const ProgramResult moved = run({"runs", "merge", "runs", "--move", "--runs", "other"});
  EXPECT_THAT(moved.out, Not(HasSubstr("stays there")));
  EXPECT_TRUE(run_folders().empty());
  runs_ = folder_.path() / "other";
  expect_all_done(3);
}

// A container's own files are the lower layer of an overlay, where no folder can be renamed.
// A sanitizer itself reads /proc before the program begins: there is nothing to test then.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define XLM_IS_SANITIZED
#endif
#endif
#ifndef XLM_IS_SANITIZED
TEST_F(ProgramTest, WithoutProcItSaysWhatIsMissing) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  const auto without_proc = [&](const std::string& command) {
    return shell(folder_.path(),
                 "unshare --user --map-root-user --mount sh -ec 'mount -t tmpfs none /proc; " + command + "'");
  };
  if (without_proc("true").code != 0) GTEST_SKIP() << needs::kNamespaces;
  const ProgramResult result = without_proc("exec \"" XLM_FAKE_BINARY "\" sweep sweep.yaml");
  EXPECT_EQ(result.code, kFailed) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("it is named by /proc: mount that"), Not(HasSubstr("terminate"))));
}
#endif

TEST_F(ProgramTest, RunsInTheLowerLayerOfAnOverlayAreRemovedMovedAndUpdated) {
  const std::string mounted =
      "mount -t tmpfs none disk && mkdir disk/upper disk/work && "
      "mount -t overlay overlay -o userxattr,lowerdir=lower,upperdir=disk/upper,workdir=disk/work merged && cd merged "
      "&& ";
  const auto in_overlay = [&](const std::string& commands) {
    return shell(folder_.path(), "unshare --user --map-root-user --mount sh -ec '" + mounted + commands + "'");
  };
  for (const char* name : {"lower/here", "disk", "merged"}) create_folders(folder_.path() / name);
  if (in_overlay("true").code != 0) {
    GTEST_SKIP() << needs::kNamespaces;
  }
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  std::vector<std::string> ids;
  for (const fs::path& folder : run_folders()) ids.push_back(folder.filename().string());
  fs::rename(runs_, folder_.path() / "lower" / "runs");
  fs::copy(folder_.path() / "lower" / "runs" / ids[1], folder_.path() / "lower" / "here" / ids[1],
           fs::copy_options::recursive);
  const fs::path here = folder_.path() / "lower" / "here" / ids[1];
  const std::vector<std::string> lines = split(read_file(here / "journal.jsonl"), '\n');
  write_file(here / "journal.jsonl", lines[0] + "\n" + lines[1] + "\n");
  write_file(here / "model" / "model.safetensors", "of a run that came less far");
  write_file(here / "model" / "notes", "mine");
  const std::string program = "'\\''" XLM_FAKE_BINARY "'\\'' runs ";
  const ProgramResult result = in_overlay(program + "rm " + ids[0] + " --yes; [ ! -e runs/" + ids[0] + " ]; " +
                                          program + "merge runs --move --runs here; [ ! -e runs/" + ids[1] +
                                          " ]; cat here/*/model/*; " + "ls -A here; ls -A here/*");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("removed " + ids[0]), HasSubstr("1 run: 1 updated"), HasSubstr("mine"),
                                Not(HasSubstr("less far")), Not(HasSubstr(".replaced")), Not(HasSubstr(".merge"))));
}

}  // namespace
}  // namespace xlm
