// What programs get wrong without an error: lists and results say it.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramQuietFaults : public ProgramOfUser {
 protected:
  /// The run of a script, whose numbers are in lines "step 1 loss 2".
  xlm::Run run_of(const std::string& script, const std::string& rest = "train: {steps: 10}\n") {
    write_script("own.py", "import os, sys, time, traceback\n" + script);
    configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n", rest);
    EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
    return only_run();
  }
};

constexpr const char* kSteps = "for s in range(1, 11): print('step', s, 'loss', 3 - s / 10)\n";

TEST_F(ProgramQuietFaults, AnExceptionThatIsPrintedAndExitCodeZero) {
  EXPECT_THAT(run_of(std::string("try:\n  ") + kSteps +
                     "  raise RuntimeError('no data')\nexcept Exception: traceback.print_exc()\n")
                  .reason,
              HasSubstr("its output with an exception"));
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("done, warning"));
  fs::remove_all(runs_);
  const std::string traceback = "print('Traceback (most recent call last):\\n  File \"a.py\", line 1, in f')\n";
  EXPECT_THAT(run_of(kSteps + traceback +
                     "print('torch.AcceleratorError: CUDA error: x\\nCUDA kernel errors might\\nFor debugging')\n")
                  .reason,
              HasSubstr("its output with an exception"));
  fs::remove_all(runs_);
  EXPECT_EQ(run_of(std::string(kSteps) + "print('Exception ignored in: <function f>')\n" + traceback +
                   "print('TypeError: x')\n")
                .reason,
            "");
}

TEST_F(ProgramQuietFaults, AnEndBeforeTheLastStep) {
  EXPECT_THAT(run_of("for s in range(1, 5): print('step', s, 'loss', 3)\n").reason,
              HasSubstr("its last number is of step 4, and train.steps is 10"));
}

TEST_F(ProgramQuietFaults, ALogThatIsWrittenEverySoOftenIsWhole) {
  EXPECT_EQ(run_of("for s in range(0, 10, 3): print('step', s, 'loss', 3)\nprint('Error: none')\n").reason, "");
}

TEST_F(ProgramQuietFaults, ALogThatIsWrittenMoreAndMoreRarelyOrWithoutStepsIsWhole) {
  EXPECT_EQ(run_of("for s in (1, 2, 4, 8): print('step', s, 'loss', 3)\n", "train: {steps: 15}\n").reason, "");
  fs::remove_all(runs_);
  write_script("own.py", "print('loss 3')\n");
  configure("[python3, own.py]", "  metrics: [{lines: 'loss (?<loss>.+)'}]\n", "train: {steps: 10}\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().reason, "");
}

TEST_F(ProgramQuietFaults, TheTimeOfStepsThatComeAllAtOnceIsNotKnown) {
  const xlm::Run at_once = run_of(std::string("time.sleep(0.3)\n") + kSteps);
  EXPECT_FALSE(at_once.costs.contains("step_seconds"));
  fs::remove_all(runs_);
  EXPECT_GT(run_of("for s in range(1, 11):\n  time.sleep(0.05)\n  print('step', s, 'loss', 3, flush=True)\n")
                .costs.at("step_seconds"),
            0.04);
}

TEST_F(ProgramQuietFaults, AnEvaluationThatPrintsItsNumberTwice) {
  write_script("e.sh", "echo wikitext perplexity 20; echo ptb perplexity 70");
  const std::string evaluate =
      "train: {steps: 10}\nsweep: {grid: {seed: [1]}}\nevaluate: {command: [sh, e.sh], split: test, "
      "metrics: [{lines: 'perplexity (?<perplexity>.+)'}]}\n";
  write_script("own.py", kSteps);
  configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n", evaluate);
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("e.sh: 1 number replaced another one of the same name and step"));
}

TEST_F(ProgramQuietFaults, VariablesOfTheShellThatItReads) {
  write_script("own.py", "import os\nprint('step', 1, 'loss', os.environ['MY_RATE'] + os.environ.get('MY_KEY', ''))\n");
  const auto sweep = [&](const std::string& rate, const std::string& seeds) {
    configure(
        "[python3, own.py, '{seed}']", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
        "sweep: {grid: {seed: [" + seeds + "]}}\ntables: [{table: T, rows: experiment, cells: {value: valid.loss}}]\n");
    ::setenv("MY_RATE", rate.c_str(), 1);
    const ProgramResult result = run({"sweep", "run.yaml"});
    EXPECT_EQ(result.code, kDone) << result.err;
  };
  ::setenv("MY_KEY", "5", 1);
  ::setenv("UNREAD", "1", 1);
  sweep("0.5", "1, 2");
  EXPECT_THAT(run({"runs", "ls", "--columns", "program.variables"}).out,
              AllOf(HasSubstr("MY_KEY=sha256:ef2d127d, MY_RATE=0.5"), Not(HasSubstr("UNREAD"))));
  EXPECT_THAT(run({"table", "run.yaml"}).out, Not(HasSubstr("variables of the shell")));
  sweep("0.1", "1, 2, 3, 4");
  EXPECT_THAT(
      run({"table", "run.yaml"}).out,
      HasSubstr("Seeds of one setting read other variables of the shell: MY_KEY=sha256:ef2d127d, MY_RATE=0.1; MY_KEY"));
  for (const char* name : {"MY_RATE", "MY_KEY", "UNREAD"}) ::unsetenv(name);
}

TEST_F(ProgramQuietFaults, SeedsThatEndAtOtherSteps) {
  write_script("own.py",
               "import os\nfor s in range(1, 10 * int(os.environ['XLM_SEED'])): print('step', s, 'loss', 3 / s)\n");
  configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
            "sweep: {grid: {seed: [1, 2]}}\ntables: [{table: T, rows: experiment, cells: {value: valid.loss}}]\n");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"table", "run.yaml"}).out, HasSubstr("Seeds of one setting ended at other steps, from 9 to 19."));
}

}  // namespace
}  // namespace xlm
