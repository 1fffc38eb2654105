// How numbers are read is no property of a training: a corrected pattern trains nothing, and reads again.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTalk = R"(echo x >> ../../../began
echo step 1 loss 5 acc 0.5; echo step 2 loss 4 acc 0.7; echo valid 4.5)";

class ProgramReread : public ProgramOfUser {
 protected:
  void configure_talk(const std::string& metrics, const std::string& rest = "sweep: {grid: {seed: [1]}}\n") {
    configure("[sh, talk.sh]", "  metrics: " + metrics + "\n", rest);
  }
  /// How often the program was started.
  std::size_t attempts() const { return fs::file_size(folder_.path() / "began") / 2; }

  /// Trains until the program says that it is ready, stops it, and goes on.
  void stop_and_resume() {
    BackgroundProgram first = start({"train", "run.yaml"});
    until_said("ready");
    first.kill(SIGTERM);
    EXPECT_EQ(first.wait().code, kStopped);
    EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  }

  static double value(const xlm::Run& run, const std::string& name, std::int64_t step) {
    return run.metrics.at(name).at(step);
  }
};

TEST_F(ProgramReread, ACorrectedPatternTrainsNothingAndReadsAgain) {
  write_script("talk.sh", kTalk);
  configure_talk("[{lines: 'step (?<step>.+) loss (?<acc>.+) acc'}]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(value(only_run(), "acc", 2), 4);
  configure_talk(R"([{lines: 'step (?<step>\S+) loss (?<loss>\S+)'}, {lines: 'valid (?<valid.loss>\S+)'}])");
  const ProgramResult again = run({"sweep", "run.yaml"});
  EXPECT_EQ(again.code, kDone) << again.err;
  EXPECT_THAT(again.out, HasSubstr("runs reread run.yaml"));
  EXPECT_EQ(attempts(), 1U);
  const ProgramResult reread = run({"runs", "reread", "run.yaml"});
  EXPECT_EQ(reread.code, kDone) << reread.err;
  EXPECT_THAT(reread.out, HasSubstr("3 lines with numbers read again"));
  const xlm::Run now = only_run();
  EXPECT_FALSE(now.metrics.contains("acc"));
  EXPECT_EQ(value(now, "loss", 2), 4);
  EXPECT_EQ(main_evaluation(now, "valid")->values.at("loss"), 4.5);
  EXPECT_TRUE(now.costs.contains("wall_seconds"));
  EXPECT_THAT(run({"sweep", "run.yaml"}).out, AllOf(HasSubstr("4.5"), Not(HasSubstr("reread"))));
  EXPECT_EQ(attempts(), 1U);
}

TEST_F(ProgramReread, ALogThatMovesAfterAResumeGivesNoOldNumberAsFinal) {
  write_script("talk.sh", R"(mkdir -p v0 v1
if [ "$XLM_RESUME" ]; then printf 'step,val_loss\n2,3\n' >v1/m.csv; exit; fi
printf 'step,val_loss\n1,5\n' >v0/m.csv
trap 'echo x >$XLM_CHECKPOINTS/saved; exit 75' TERM
echo ready
while :; do sleep 0.01; done)");
  configure_talk("[{csv: v0/m.csv}]");
  stop_and_resume();
  EXPECT_THAT(run({"runs", "ls"}).out, AllOf(HasSubstr("done, warning"), HasSubstr("got nothing after the run was")));
  EXPECT_EQ(main_evaluation(only_run(), "valid"), nullptr);
  configure_talk("[{csv: v1/m.csv}]");
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(main_evaluation(only_run(), "valid")->values.at("loss"), 3);
}

TEST_F(ProgramReread, AProgramThatSavesAndDoesNotLoadIsNamed) {
  write_script("talk.sh", R"(last=5
[ "$XLM_RESUME" ] && last=3
for s in $(seq $last); do echo step $s loss $s; done
[ "$XLM_RESUME" ] && exit
trap 'echo x >$XLM_CHECKPOINTS/saved; exit 75' TERM
echo ready
while :; do sleep 0.01; done)");
  configure_talk(R"([{lines: 'step (?<step>\S+) loss (?<loss>\S+)'}])");
  stop_and_resume();
  EXPECT_THAT(run({"runs", "ls"}).out, AllOf(HasSubstr("done, warning"), HasSubstr("began again at step 1"),
                                             HasSubstr("numbers behind step 3 are of an attempt before")));
}

TEST_F(ProgramReread, WhatAnAttemptSaidThatBeganAnewIsNotReadAgain) {
  write_script("talk.sh", R"(if [ -e ../../../died ]; then last=20; else last=30; fi
for s in 10 20 30; do [ $s -le $last ] && echo step $s loss $last; done
[ $last = 20 ] && exit; : >../../../died; exit 1)");
  configure_talk(R"([{lines: 'step (?<step>\S+) loss (?<loss>\S+)'}])");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kFailed);
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ASSERT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().metrics.at("loss").size(), 2U) << "the first attempt ended at step 30";
  EXPECT_EQ(value(only_run(), "loss", 20), 20);
  EXPECT_EQ(only_run().reason, "");
  write_file(only_run().folder / "metrics.position.json", "{torn");
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone) << "all attempts are read";
  EXPECT_EQ(only_run().metrics.at("loss").size(), 3U);
}

TEST_F(ProgramReread, StepsOfAnAttemptThatResumedAreNoStepsBack) {
  write_script("talk.sh", R"(first=1
[ "$XLM_RESUME" ] && first=3
for s in $(seq $first $((first + 4))); do echo step $s loss $first; done
[ "$XLM_RESUME" ] && exit
trap 'echo x >$XLM_CHECKPOINTS/saved; exit 75' TERM
echo ready
while :; do sleep 0.01; done)");
  configure_talk(R"([{lines: 'step (?<step>\S+) loss (?<loss>\S+)'}])");
  stop_and_resume();
  for (int i = 0; i < 2; ++i) {  // the second one knows the attempts, too
    ASSERT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
    EXPECT_EQ(value(only_run(), "loss", 2), 1);
    EXPECT_EQ(value(only_run(), "loss", 5), 3);
    EXPECT_EQ(only_run().metrics.at("loss").size(), 7U);
    EXPECT_EQ(only_run().reason, "") << "no warning that steps went back";
  }
}

TEST_F(ProgramReread, FilesAreReadAgainAndAnEvaluationOfASecondCommandStays) {
  write_script(
      "talk.sh",
      "printf 'step,a,b\\n1,2,3\\n2,4,6\\n' > log.csv; echo '{\"split\":\"valid\",\"loss\":9}' >> $XLM_METRICS");
  const std::string evaluate =
      "sweep: {grid: {seed: [1]}}\nevaluate: {command: [sh, -c, 'echo ppl 7'], code: [e.sh], "
      "split: valid, metrics: [{lines: 'ppl (?<loss>.)'}]}\n";
  write_script("e.sh", "");
  configure_talk("[{csv: log.csv, names: {step: step, a: loss}}]", evaluate);
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_talk("[{csv: log.csv, names: {step: step, b: loss}}]", evaluate);
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(value(only_run(), "loss", 2), 6);
  EXPECT_EQ(main_evaluation(only_run(), "valid")->values.at("loss"), 7) << "what training said is read later";
}

TEST_F(ProgramReread, ALastLineWithoutAnEndIsReadAgain) {
  write_script("talk.sh", "echo step 5 valid 9; printf 'step 10 valid 1'");
  configure_talk(R"([{lines: 'step (?<step>\S+) valid (?<valid.loss>\S+)'}])");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"runs", "reread", "run.yaml"}).out, HasSubstr("2 lines with numbers read again"));
  EXPECT_EQ(main_evaluation(only_run(), "valid")->values.at("loss"), 1);
}

TEST_F(ProgramReread, WarningsThatAreStillTrueStay) {
  write_script("talk.sh", R"(echo step 1 valid 2; echo step 2 valid nan
printf 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n')");
  configure_talk(R"([{lines: 'step (?<step>\S+) valid (?<valid.loss>\S+)'}])", "train: {steps: 9}\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(only_run().reason, AllOf(HasSubstr("its final valid.loss is no finite number"),
                                         HasSubstr("may have ended early"), HasSubstr("its output with an exception")));
    EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  }
}

TEST_F(ProgramReread, AFileThatWasBegunAnewKeepsWhatItHad) {
  write_script("talk.sh", R"(if [ "$XLM_RESUME" ]; then printf 'step,a\n3,4\n' >m.csv; exit; fi
printf 'step,a\n1,2\n2,3\n' >m.csv
trap 'echo x >$XLM_CHECKPOINTS/saved; exit 75' TERM
echo ready
while :; do sleep 0.01; done)");
  configure_talk("[{csv: m.csv}]");
  stop_and_resume();
  EXPECT_EQ(only_run().metrics.at("a").size(), 3U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(run({"runs", "reread", "run.yaml"}).out, HasSubstr("what was read before stays, too"));
    EXPECT_EQ(only_run().metrics.at("a").size(), 3U);
  }
}

TEST_F(ProgramReread, WhatIsNotLeftKeepsTheNumbersThatThereAre) {
  write_script("talk.sh", "printf 'step,a\\n1,2\\n' > log.csv; echo step 3 loss 1");
  configure_talk("[{csv: log.csv}, {lines: 'step (?<step>.) loss (?<loss>.)'}]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  fs::remove(only_run().folder / "work" / "log.csv");
  configure_talk("[{csv: log.csv}, {lines: 'step (?<step>.) loss (?<cross_entropy>.)'}]");
  const ProgramResult reread = run({"runs", "reread", "run.yaml"});
  EXPECT_THAT(reread.out, AllOf(HasSubstr("stays, too"), HasSubstr("log.csv was never there")));
  EXPECT_EQ(value(only_run(), "a", 1), 2);
  EXPECT_EQ(value(only_run(), "cross_entropy", 3), 1);
  configure_talk("[{lines: 'nothing (?<loss>.)'}]");
  const ProgramResult none = run({"runs", "reread", "run.yaml"});
  EXPECT_EQ(none.code, kFailed);
  EXPECT_THAT(none.out, HasSubstr("nothing was changed"));
  EXPECT_EQ(value(only_run(), "a", 1), 2);
}

TEST_F(ProgramReread, ARunThatWasNamedWithItsMetricsIsFoundWhateverTheyAreNow) {
  write_script("talk.sh", kTalk);
  configure_talk("[{lines: 'step (?<step>.+) loss (?<loss>.+) acc'}]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const fs::path folder = only_run().folder;
  const fs::path earlier = runs_ / (folder.filename().string().substr(0, folder.filename().string().rfind('-')) +
                                    "-0123456789abcdef");  // an id of version 0.1.0 for other metrics
  fs::rename(folder, earlier);
  EXPECT_THAT(run({"sweep", "run.yaml"}).out, HasSubstr("1 of 1 runs done"));
  configure_talk(R"([{lines: 'valid (?<valid.loss>\S+)'}])");
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(run_folders(), std::vector<fs::path>{earlier});
  EXPECT_EQ(attempts(), 1U);
  EXPECT_EQ(main_evaluation(only_run(), "valid")->values.at("loss"), 4.5);
}

TEST_F(ProgramReread, APatternThatFailsAtTheLastLineLeavesTheTrainingDone) {
  write_script("talk.sh", std::string(kTalk) + "; echo loss n/a; echo saved");
  configure_talk(
      R"([{lines: 'step (?<step>\S+) loss (?<loss>\S+)'}, {lines: '^loss (?<loss>\S+)'}, {lines: 'valid (?<valid.loss>\S+)'}])");
  const ProgramResult sweep = run({"sweep", "run.yaml"});
  EXPECT_EQ(sweep.code, kDone) << sweep.err << sweep.out;
  EXPECT_THAT(sweep.out, AllOf(HasSubstr("done, warning"), HasSubstr("its last line cannot be read")));
  EXPECT_EQ(main_evaluation(only_run(), "valid"), nullptr) << "none is final";
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("done, warning"));
  configure_talk(R"([{lines: '^step (?<step>\S+) loss (?<loss>\S+)'}, {lines: 'valid (?<valid.loss>\S+)'}])");
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().reason, "");
  EXPECT_EQ(main_evaluation(only_run(), "valid")->values.at("loss"), 4.5);
  EXPECT_EQ(attempts(), 1U);
}

TEST_F(ProgramReread, ALineThatCannotBeReadIsSaidAndANameThatNeverHasANumberFails) {
  write_script("talk.sh", "echo step 1 loss 3; echo step 2 loss 2.5step 2 loss 2.5; echo step 3 loss 2");
  configure_talk(R"([{lines: '^step (?<step>\S+) loss (?<loss>\S+)'}])");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(
      only_run().reason,
      HasSubstr("1 number of the output could not be read, first output:2: 'loss' is '2.5step', which is no number"));
  EXPECT_EQ(only_run().metrics.at("loss"), (RunSeries{{1, 3}, {3, 2}}));
  write_script("talk.sh", "for step in 1 2 3; do echo step $step loss n/a; done; sleep 30; echo step 4 loss 3");
  EXPECT_EQ(run({"sweep", "run.yaml", "seed=7"}).code, kFailed);
}

}  // namespace
}  // namespace xlm
