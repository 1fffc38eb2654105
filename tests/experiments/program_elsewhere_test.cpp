// Programs of users under workers that a user or a real Slurm starts.
#include <regex>

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"
#include "tests/experiments/slurm_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProgramElsewhere : public ProgramOfUser {
 protected:
  static constexpr const char* kOddWords = R"(a b "q" 'p' $(touch x) `y` * ;)";

  /// A sweep of seeds; the command has words that a shell would change, and each run keeps them.
  void configure_odd_words(const std::string& seeds) {
    write_script("odd.py",
                 "import os, sys\nopen(os.path.join(os.environ['XLM_RUN'], 'word.txt'), 'w').write(sys.argv[1])\n" +
                     std::string(kTrainingScript));
    configure("[python3, odd.py, '{word}']", "  environment: {ODD: '{word}'}\n",
              fmt::format("options: {{lr: 0.1, hold: {}, word: {}}}\nresources: {{cpus: 1, time: 5min}}\n"
                          "sweep: {{grid: {{seed: [{}]}}}}\n",
                          hold().string(), Json(kOddWords).dump(), seeds));
  }

  void expect_whole_runs(std::size_t count) const {
    ASSERT_EQ(run_folders().size(), count);
    for (const fs::path& folder : run_folders()) {
      expect_whole(read_live_run(folder));
      EXPECT_EQ(read_file(folder / "word.txt"), kOddWords);
    }
    EXPECT_FALSE(fs::exists(folder_.path() / "x")) << "a shell has read the words";
  }
};

TEST_F(ProgramElsewhere, WorkersThatAUserStartsShareItsRuns) {
  configure_odd_words("1, 2, 3");
  const ProgramResult submitted = run({"sweep", "run.yaml", "--launcher", "manual"});
  ASSERT_EQ(submitted.code, kDone) << submitted.err;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(submitted.out, match, std::regex("\n  (.* worker --sweep .*)\n"))) << submitted.out;
  const std::vector<std::string> command = split(match[1].str(), ' ');
  write_script("odd.py", "raise SystemExit('edited while its runs were queued')\n");
  write_file(hold(), "");
  BackgroundProgram first(command, folder_.path());
  until_held();
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait().code, kStopped);
  fs::remove(hold());
  BackgroundProgram one(command, folder_.path());
  BackgroundProgram two(command, folder_.path());
  EXPECT_EQ(one.wait().code, kDone);
  EXPECT_EQ(two.wait().code, kDone);
  expect_whole_runs(3);
}

TEST_F(ProgramElsewhere, AVirtualEnvironmentThatIsLostWhileQueuedIsNamedAndItsReturnMendsIt) {
  const fs::path python = folder_.path() / "environment" / "bin" / "python";
  const std::string make = "mkdir -p environment/bin && ln -sf $(command -v python3) environment/bin/python";
  ASSERT_EQ(shell(folder_.path(), make).code, 0);
  configure("[" + python.string() + ", train.py]", "",
            fmt::format("options: {{lr: 0.1, hold: {}}}\nsweep: {{grid: {{seed: [1]}}}}\n", hold().string()));
  ASSERT_EQ(run({"sweep", "run.yaml", "--launcher", "manual"}).code, kDone);
  fs::remove_all(folder_.path() / "environment");
  const fs::path folder = run_folders().at(0);
  const ProgramResult lost = run({"worker", folder.string()});
  EXPECT_NE(lost.code, kDone);
  EXPECT_THAT(only_run().reason + lost.err, HasSubstr(python.string()));
  EXPECT_EQ(only_run().status, RunStatus::kFailed);
  ASSERT_EQ(shell(folder_.path(), make).code, 0);
  EXPECT_EQ(run({"worker", folder.string()}).code, kDone);
  expect_whole(only_run());
}

TEST_F(ProgramElsewhere, AFrozenCodeThatIsLostOrChangedIsNamedAndItsReturnMendsIt) {
  configure_training("", "sweep: {grid: {seed: [1]}}\n");
  ASSERT_EQ(run({"sweep", "run.yaml", "--launcher", "manual"}).code, kDone);
  const fs::path frozen = runs_ / ".programs";
  fs::rename(frozen, folder_.path() / "kept");
  const fs::path folder = run_folders().at(0);
  EXPECT_NE(run({"worker", folder.string()}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("code"));
  fs::rename(folder_.path() / "kept", frozen);
  EXPECT_EQ(run({"worker", folder.string()}).code, kDone);
  expect_whole(only_run());
}

TEST_F(ProgramElsewhere, RunsAreStoppedShownMergedPackedAndExportedAsOthers) {
  configure_odd_words("1");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "run.yaml"});
  until_held();
  const std::string id = only_run().id;
  EXPECT_THAT(run({"runs", "watch", "run.yaml", "--once"}).out, HasSubstr(id.substr(std::string("code-").size(), 8)));
  EXPECT_EQ(run({"runs", "stop", id}).code, kDone);
  EXPECT_NE(sweep.wait().code, kFailed);
  EXPECT_EQ(only_run().status, RunStatus::kPreempted) << only_run().reason;
  EXPECT_EQ(left_processes(), "");
  fs::remove(hold());
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  expect_whole_runs(1);
  const ProgramResult shown = run({"runs", "show", id});
  EXPECT_THAT(shown.out, HasSubstr("program.python")) << shown.out;
  EXPECT_THAT(shown.out, HasSubstr(", which --json lists"));
  EXPECT_EQ(shown.out.find("\"packages\""), std::string::npos);
  ASSERT_EQ(run({"runs", "pack", id, "--out", "packed.tar.zst"}).code, kDone);
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "packed.tar.zst"}).code, kDone);
  expect_whole(read_live_run(folder_.path() / "other" / id));
  const ProgramResult exported = run({"runs", "export", "--format", "csv", "--out", "exported"});
  ASSERT_EQ(exported.code, kDone) << exported.err;
  EXPECT_THAT(read_file(folder_.path() / "exported" / "runs.csv"), HasSubstr("options.lr"));
}

class ProgramOnSlurm : public ProgramElsewhere {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(2);
  }
  void TearDown() override {
    fs::remove(hold());
    slurm_.stop();
  }

  LocalSlurm slurm_{folder_.path()};
};

TEST_F(ProgramOnSlurm, PreemptedRequeuedAndEditedMeanwhileItIsWhole) {
  configure_odd_words("1, 2, 3");
  write_file(hold(), "");
  ASSERT_EQ(run({"sweep", "run.yaml", "--launcher", "slurm", "--jobs", "2"}).code, kDone);
  until_held(2);
  write_script("odd.py", "raise SystemExit('edited while its runs were queued')\n");
  ASSERT_EQ(shell(folder_.path(), "sbatch -p urgent -n 2 --wrap 'sleep 1'").code, 0);
  LocalSlurm::until([&] {
    std::size_t stopped = 0;
    for (const fs::path& folder : run_folders())
      stopped += read_live_run(folder).status == RunStatus::kPreempted ? 1 : 0;
    return stopped == 2;
  });
  fs::remove(hold());
  LocalSlurm::until([&] {
    slurm_.start_requeued();
    return count_done(run_folders()) == 3 && slurm_.jobs().empty();
  });
  expect_whole_runs(3);
  EXPECT_EQ(left_processes(), "");
}

}  // namespace
}  // namespace xlm
