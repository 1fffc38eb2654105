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

TEST_F(ProgramQuietFaults, AnEndBeforeTheLastStepOfAnAttemptThatSaidOneNumber) {
  write_script("own.py",
               "import os, sys\nsaved = os.environ['XLM_CHECKPOINTS'] + '/s'\nis_there = os.path.exists(saved)\n"
               "open(saved, 'w').write('x')\n"
               "for s in ([4] if is_there else [1, 2, 3]): print('step', s, 'loss', 3)\n"
               "sys.exit(0 if is_there else 1)\n");
  configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n", "train: {steps: 10}\n");
  EXPECT_EQ(run({"train", "run.yaml"}).code, kFailed);
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("its last number is of step 4, and train.steps is 10"));
}

/// Its checkpoint holds the weights and the step, and the schedule hangs on the epoch.
TEST_F(ProgramQuietFaults, EpochsThatAreCountedAnewAfterAResume) {
  const auto attempts = [&](const std::string& epoch) {
    write_script("own.py",
                 "import os\nsaved = os.environ['XLM_CHECKPOINTS'] + '/s'\nis_there = os.path.exists(saved)\n"
                 "open(saved, 'w').write('x')\n"
                 "for i in ([5, 6] if is_there else [1, 2, 3, 4]):\n"
                 "  epoch = " +
                     epoch +
                     "\n  print('step', i, 'epoch', epoch, 'lr', 0.1 if epoch < 3 else 0.01, 'time', i % 5,"
                     " 'loss', i % 3, flush=True)\n"
                     "if not is_there: os.kill(os.getpid(), 9)\n");
    configure("[python3, own.py]",
              "  metrics: [{lines: 'step (?<step>.+) epoch (?<epoch>.+) lr (?<lr>.+) time (?<time>.+) loss "
              "(?<loss>.+)'}]\n");
    EXPECT_EQ(run({"train", "run.yaml"}).code, kDone) << "it is started again";
    const std::string reason = only_run().reason;
    fs::remove_all(runs_);
    return reason;
  };
  EXPECT_THAT(attempts("i - 4 if is_there else i"),
              HasSubstr("after step 4 it was resumed and began again with epoch at 1 and lr at 0.1"));
  EXPECT_THAT(attempts("i"), testing::Not(HasSubstr("began again")));
}

/// Its output still stood in the program's memory.
TEST_F(ProgramQuietFaults, NumbersThatAreLostWithAKilledAttempt) {
  const auto attempts = [&](const std::string& resumed) {
    write_script("own.py",
                 "import os\nsaved = os.environ['XLM_CHECKPOINTS'] + '/s'\nis_there = os.path.exists(saved)\n"
                 "open(saved, 'w').write('x')\n"
                 "for s in (" +
                     resumed +
                     " if is_there else [1, 2, 3]): print('step', s, 'loss', 3, flush=True)\n"
                     "if not is_there: os.kill(os.getpid(), 9)\n");
    configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n");
    EXPECT_EQ(run({"train", "run.yaml"}).code, kDone) << "it is started again";
    const std::string reason = only_run().reason;
    fs::remove_all(runs_);
    return reason;
  };
  EXPECT_THAT(attempts("[]"), HasSubstr("numbers behind step 3 may be lost with the attempt before"));
  EXPECT_THAT(attempts("[8, 9]"), HasSubstr("numbers between step 3 and 8 are lost with the attempt before"));
  EXPECT_THAT(attempts("[4, 5]"), Not(HasSubstr("lost")));
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
  EXPECT_THAT(only_run().reason, HasSubstr("e.sh: 1 number came behind another one of the same name and step"));
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

/// Python keeps what is written to a file until there is much of it, and prints lines at once.
TEST_F(ProgramQuietFaults, NumbersThatAFileGetsLateBelongToTheirSteps) {
  write_script("own.py", R"(file = open("acc.csv", "w")
file.write("step,val_acc\n")
for step in range(50, 201, 50):
    print("step", step, "loss", 3 - step / 100)
    print("valid loss", 3.5 - step / 100)
    if step % 100 == 0: file.write(f"{step},{step / 1000}\n")
)");
  configure("[python3, own.py]",
            "  metrics: [{lines: '^step (?<step>\\S+) loss (?<loss>\\S+)'}, {lines: 'valid loss (?<valid.loss>\\S+)'}, "
            "{csv: acc.csv}]\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const auto is_whole = [&] {
    const xlm::Run run = only_run();
    const std::map<std::string, double>& last = main_evaluation(run, "valid")->values;
    EXPECT_EQ(last, (std::map<std::string, double>{{"acc", 0.2}, {"loss", 1.5}}));
    EXPECT_EQ(run.evaluations.size(), 4U);
    EXPECT_EQ(run.reason, "");
  };
  is_whole();
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  is_whole();
}

TEST_F(ProgramQuietFaults, ARunThatWasResumedHasNoNumbersOfThePathThatWasLeft) {
  write_script("own.py", R"(import json, os, signal, time
saved = os.environ["XLM_CHECKPOINTS"] + "/s.json"
s = json.load(open(saved)) if os.path.exists(saved) else 0
first = s == 0
while s < (62 if first else 50):
    s += 1
    print("step", s, "loss", 4 - s / 20 + (1.5 if first and s > 20 else 0), flush=True)
    if s % (10 if first else 9) == 0: print("valid", 5 - s / 20 + (1.5 if first and s > 20 else 0), flush=True)
    if s == 20 and first:
        json.dump(s, open(saved + ".new", "w"))
        os.replace(saved + ".new", saved)
if first:
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)
print("valid", 5 - s / 20)
)");
  configure("[python3, own.py]",
            "  metrics: [{lines: 'step (?<step>\\S+) loss (?<loss>\\S+)'}, {lines: 'valid (?<valid.loss>\\S+)'}]\n",
            "train: {steps: 50}\n");
  run({"sweep", "run.yaml"});
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const auto is_of_one_path = [&] {
    const xlm::Run run = only_run();
    std::vector<std::int64_t> evaluated;
    for (const RunEvaluation& one : run.evaluations) evaluated.push_back(one.step);
    EXPECT_EQ(evaluated, (std::vector<std::int64_t>{10, 20, 27, 36, 45, 50}));
    EXPECT_EQ(run.metrics.at("loss").size(), 50U);
    EXPECT_NEAR(run.metrics.at("loss").at(40), 2, 1e-9);
    EXPECT_EQ(run.step, 50);
    EXPECT_EQ(main_evaluation(run, "valid")->values.at("loss"), 2.5);
  };
  is_of_one_path();
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  is_of_one_path();
}

TEST_F(ProgramQuietFaults, FilesThatGoOnAreReadAgainAttemptByAttempt) {
  write_script("own.py", R"(import json, os, signal, sys, time
saved = os.environ["XLM_CHECKPOINTS"] + "/s.json"
s = json.load(open(saved)) if os.path.exists(saved) else 0
first, start = s == 0, s
file = open("log.csv" if sys.argv[1] == "csv" else os.environ["XLM_METRICS"], "a")
if sys.argv[1] == "csv" and first: file.write("step,val_loss\n")
while s < 40:
    s += 1
    loss = 1.0 if first else 2.0
    if (s - start) % 5 == 0:
        file.write(f"{s},{loss}\n" if sys.argv[1] == "csv" else json.dumps({"step": s, "split": "valid", "loss": loss}) + "\n")
        file.flush()
    if s == 12: json.dump(s, open(saved, "w"))
    if first and s == 28:
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    if not first and s == 22: break
)");
  for (const char* way : {"csv", "metrics"}) {
    configure("[python3, own.py, " + std::string(way) + "]",
              std::string(way) == "csv" ? "  metrics: [{csv: log.csv}]\n" : "");
    run({"sweep", "run.yaml"});
    ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
    const auto is_of_one_path = [&] {
      const xlm::Run run = only_run();
      std::map<std::int64_t, double> losses;
      for (const RunEvaluation& one : run.evaluations) losses[one.step] = one.values.at("loss");
      EXPECT_EQ(losses, (std::map<std::int64_t, double>{{5, 1}, {10, 1}, {15, 1}, {17, 2}, {22, 2}})) << way;
      EXPECT_EQ(main_evaluation(run, "valid")->values.at("loss"), 2) << way;
    };
    is_of_one_path();
    EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
    is_of_one_path();
    fs::remove_all(runs_);
  }
}

TEST_F(ProgramQuietFaults, TwoRanksThatReportOneEvaluation) {
  write_script("own.py", R"(import json, os
file = open(os.environ["XLM_METRICS"], "a")
for s in (10, 20, 30):
    for r in (0, 1): file.write(json.dumps({"step": s, "split": "valid", "loss": 10 / s + r}) + "\n")
)");
  configure("[python3, own.py]");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("evaluations replaced others of the same step"));
}

TEST_F(ProgramQuietFaults, AFileThatGoesOnBelowTheHeaderOfALostAttempt) {
  write_script("own.py", R"(import os, signal, sys
file = open(sys.argv[1] + "/log.csv", "a")
is_first = file.tell() == 0
if is_first: file.write("step,loss\n")
for s in range(1, 5): file.write(f"{s},{3 - s / 10}\n")
file.flush()
if is_first: os.kill(os.getpid(), signal.SIGKILL)
)");
  configure("[python3, own.py, '{run}']", "  metrics: [{csv: '{run}/log.csv'}]\n", "train: {steps: 4}\n");
  run({"sweep", "run.yaml"});
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().metrics.at("loss"), (RunSeries{{1, 2.9}, {2, 2.8}, {3, 2.7}, {4, 2.6}}));
  EXPECT_EQ(only_run().reason, "");
}

TEST_F(ProgramQuietFaults, AFinalNumberThatIsNone) {
  write_script("own.py", "import os\nprint('valid', 'nan' if os.environ['XLM_SEED'] == '2' else 2)\n");
  configure(
      "[python3, own.py, '{rate}', '{seed}']", "  metrics: [{lines: 'valid (?<valid.loss>\\S+)'}]\n",
      "options: {rate: 1}\nsweep: {grid: {options.rate: [1, 2], seed: [1]}, include: [{options.rate: 2, seed: 2}]}\n"
      "tables: [{table: T, rows: options.rate, cells: {value: valid.loss}}]\n");
  const ProgramResult sweep = run({"sweep", "run.yaml"});
  ASSERT_EQ(sweep.code, kDone) << sweep.err;
  EXPECT_THAT(sweep.out,
              AllOf(HasSubstr("done, warning"), HasSubstr("not ranked, 1 seed without a number: options.rate=2")));
  EXPECT_THAT(run({"table", "run.yaml"}).out, HasSubstr("left out of 2/valid.loss (1 not finite)"));
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("done, warning"));
  EXPECT_THAT(run({"compare", "options.rate=2", "options.rate=1", "--value", "valid.loss"}).out,
              HasSubstr("is not finite and is not in the number"));
}

TEST_F(ProgramQuietFaults, EvaluationsThatCountEpochs) {
  EXPECT_THAT(
      run_of("for s in range(1, 61):\n  print('step', s, 'loss', 3)\nfor e in (1, 2, 3): print('step', e, 'loss', 2)\n")
          .reason,
      Not(HasSubstr("epochs")));
  fs::remove_all(runs_);
  write_script("own.py", R"(import json, os
with open(os.environ["XLM_METRICS"], "a") as file:
    for s in range(1, 61):
        file.write(json.dumps({"step": s, "loss": 3 - s / 60}) + "\n")
        if s % 20 == 0: file.write(json.dumps({"step": s // 20, "split": "valid", "loss": 3 - s / 60}) + "\n")
)");
  configure("[python3, own.py]");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("valid has the steps 1 to 3, and training has 60"));
}

TEST_F(ProgramQuietFaults, TimesOfOtherNumbersOfThreads) {
  write_script("own.py", "print('step', 1, 'loss', 3)\n");
  const auto sweep = [&](const std::string& seeds, const std::string& threads) {
    configure(
        "[python3, own.py, '{seed}']", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
        "train: {threads: " + threads + "}\nsweep: {grid: {seed: [" + seeds +
            "]}}\ntables:\n  - {table: T, name: times, rows: experiment, cells: {value: wall_seconds}}\n  - {table: L, "
            "name: losses, rows: experiment, cells: {value: valid.loss}}\n");
    ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  };
  sweep("1", "1");
  sweep("1, 2", "2");
  EXPECT_THAT(run({"table", "run.yaml", "--name", "times"}).out,
              HasSubstr("Times are of runs with 1 and 2 threads (threads): train.threads makes them alike."));
  EXPECT_THAT(run({"table", "run.yaml", "--name", "losses"}).out, Not(HasSubstr("threads")));
}

TEST_F(ProgramQuietFaults, StepsBeyondTheLastOne) {
  EXPECT_THAT(run_of("for s in range(1, 31): print('step', s, 'loss', 3)\n").reason,
              HasSubstr("its last number is of step 30, and train.steps is 10: it may count in other units"));
}

TEST_F(ProgramQuietFaults, AProcessThatStillRunsWhenTheFirstOneEnds) {
  const std::string rest = "train: {steps: 0}\n";
  const std::string started = "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('step', 1, 'loss', 3)\n";
  EXPECT_THAT(run_of(started, rest).reason, HasSubstr("a process that it had started still ran when it ended"));
}

TEST_F(ProgramQuietFaults, DataThatChangeWhileItRuns) {
  write_file(folder_.path() / "text.txt", "first");
  const std::string rest = "data: {path: text.txt}\n";
  EXPECT_THAT(
      run_of("open('" + (folder_.path() / "text.txt").string() + "', 'a').write(' more')\n" + kSteps, rest).reason,
      HasSubstr("text.txt have changed while it ran"));
  fs::remove_all(runs_);
  const xlm::Run gone = run_of("os.remove('" + (folder_.path() / "text.txt").string() + "')\n" + kSteps, rest);
  EXPECT_EQ(gone.status, RunStatus::kDone);
  EXPECT_THAT(gone.reason, HasSubstr("text.txt have changed while it ran"));
}

TEST_F(ProgramQuietFaults, AnEvaluationOfAnotherStep) {
  write_script("e.sh", "echo step 3 perplexity 20");
  write_script("own.py", kSteps);
  configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<loss>.+)'}]\n",
            "train: {steps: 10}\nsweep: {grid: {seed: [1]}}\nevaluate: {command: [sh, e.sh], split: test, "
            "metrics: [{lines: 'step (?<step>.+) perplexity (?<perplexity>.+)'}]}\n");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr("e.sh: it says step 3, and the run ended at 10"));
}

TEST_F(ProgramQuietFaults, AnOptionThatReachesNothing) {
  write_script("own.py", "import os\nprint('step', 1, 'loss', '2.' + os.environ['XLM_SEED'])\n");
  configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
            "sweep: {grid: {options.rate: [1, 2], seed: [1, 2, 3]}}\n"
            "claims: [{claim: less, name: less, value: valid.loss, a: {options.rate: 1}, b: {options.rate: 2}}]\n"
            "tables: [{table: rates, rows: options.rate, cells: {value: valid.loss}}]\n");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const char* why = "both sides have the same number with every seed";
  EXPECT_THAT(run({"table", "run.yaml"}).out, HasSubstr("1 and 2: both sides have the same number with every seed"));
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr(why));
  EXPECT_THAT(run({"compare", "options.rate=1", "options.rate=2", "--value", "valid.loss"}).out, HasSubstr(why));
}

TEST_F(ProgramQuietFaults, TwoOfSeveralSeedsThatAreOneRun) {
  const auto note_with = [&](const std::string& number) {
    write_script("own.py", "import os\nseed = int(os.environ['XLM_SEED'])\nprint('step', 1, 'loss', " + number + ")\n");
    configure(
        "[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
        "sweep: {grid: {seed: [1, 2, 3]}}\ntables: [{table: rates, rows: experiment, cells: {value: valid.loss}}]\n");
    EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
    const std::string table = run({"table", "run.yaml"}).out;
    fs::remove_all(runs_);
    return table;
  };
  const char* note = "seeds of a setting have the same number";
  EXPECT_THAT(note_with("1 / max(seed, 2) ** 9 + 2"), HasSubstr(note));
  EXPECT_THAT(note_with("1 / seed ** 9 + 2"), testing::Not(HasSubstr(note)));
  EXPECT_THAT(note_with("0.9512 if seed < 3 else 0.9513"), testing::Not(HasSubstr(note)))
      << "so few may be equal by chance";
}

TEST_F(ProgramQuietFaults, SettingsWithOtherVariablesAndEnds) {
  write_script("own.py", R"(import os, sys
last = int(os.environ.get('MY_LAST', 40))
for s in range(10, last + 1, 10): print('step', s, 'loss', 3 - s / 100 - int(os.environ['XLM_SEED']) / 1000)
)");
  for (const char* rate : {"1", "2"}) {
    configure("[python3, own.py]", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
              fmt::format("sweep: {{grid: {{options.rate: [{}], seed: [1, 2]}}}}\n", rate));
    ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
    ::setenv("MY_LAST", "20", 1);
  }
  ::unsetenv("MY_LAST");
  EXPECT_THAT(run({"compare", "options.rate=1", "options.rate=2", "--value", "valid.loss"}).out,
              AllOf(HasSubstr("Settings read other variables of the shell: none; MY_LAST=20"),
                    HasSubstr("Settings ended at other steps, from 20 to 40.")));
}

TEST_F(ProgramQuietFaults, SettingsOfOneSweepThatEndAtOtherSteps) {
  write_script("own.py", R"(import sys
for s in range(10, int(sys.argv[1]) + 1, 10): print('step', s, 'loss', 3 - s / 100)
)");
  configure("[python3, own.py, '{last}']", "  metrics: [{lines: 'step (?<step>.+) loss (?<valid.loss>.+)'}]\n",
            "options: {last: 20}\nsweep: {grid: {options.last: [20, 40]}}\n");
  EXPECT_THAT(run({"sweep", "run.yaml"}).out,
              HasSubstr("best of 2 settings by valid loss, which ended at other steps, from 20 to 40:"));
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
