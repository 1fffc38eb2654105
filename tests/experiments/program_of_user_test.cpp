// Programs of users as runs: trained, swept, stopped, killed, and resumed.
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

/// How often a word is in a text.
std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramOfUser, ATrainingIsARunLikeOthers) {
  configure_training("", "experiment: own\ntrain: {steps: 20}\n");
  const ProgramResult result = run({"train", "run.yaml"});
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("test"), HasSubstr("valid"), HasSubstr("2.4863")));
  const xlm::Run done = only_run();
  expect_whole(done);
  EXPECT_EQ(done.id.substr(0, 5), "code-");
  EXPECT_EQ(*done.param("options.lr"), 0.1);
  EXPECT_EQ(*done.param("model.type"), "program");
  EXPECT_THAT(done.environment.at("program").dump(), HasSubstr("python"));
  EXPECT_FALSE(done.environment.contains("core_sha256"));
  EXPECT_FALSE(fs::exists(done.folder / "work")) << "nothing but code was in it";
  const ProgramResult list = run({"runs", "ls", "--columns", "options.lr,test.loss", "--where", "experiment=own"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("options.lr"), HasSubstr("2.4863")));
  EXPECT_THAT(run({"train", "run.yaml"}).err, HasSubstr("is done already"));
  EXPECT_EQ(only_run().history.size(), done.history.size());
}

TEST_F(ProgramOfUser, TooFewFileHandlesAreCalledSo) {
  configure("[python3, -c, pass]");
  std::string said;
  for (int files = 9; files < 16; ++files) {
    const ProgramResult result = shell(
        folder_.path(), fmt::format("ulimit -n {0}; exec '" XLM_FAKE_BINARY "' train run.yaml --runs few-{0}", files));
    if (result.code != kDone) said += result.err;
  }
  EXPECT_THAT(said, AllOf(HasSubstr("open files"), Not(HasSubstr("temporarily unavailable"))));
}

TEST_F(ProgramOfUser, ATrainingWithoutEvaluationsPrintsNoTable) {
  configure("[python3, -c, pass]");
  const ProgramResult result = run({"train", "run.yaml"});
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST_F(ProgramOfUser, ASweepOfOptionsGoesFromItsPlanToATable) {
  configure_training("",
                     "sweep:\n  grid: {options.lr: [0.1, 0.2], seed: [1, 2]}\n  exclude: [{options.lr: 0.2, seed: 2}]\n"
                     "tables: [{table: Loss, rows: options.lr, columns: [{value: test.loss}]}]\n");
  const ProgramResult plan = run({"sweep", "run.yaml", "--dry-run"});
  EXPECT_THAT(plan.out, HasSubstr("3 of 3 runs to do")) << plan.err;
  EXPECT_FALSE(fs::exists(runs_));
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 3U);
  for (const fs::path& folder : run_folders()) {
    const xlm::Run done = read_live_run(folder);
    expect_whole(done, done.param("options.lr")->get<double>());
  }
  EXPECT_THAT(run({"table", "run.yaml"}).out, AllOf(HasSubstr("2.486"), HasSubstr("2.046")));
}

TEST_F(ProgramOfUser, AStoppedProgramSavesAndResumes) {
  configure_training();
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until_held();
  first.kill(SIGTERM);
  const ProgramResult stopped = first.wait();
  EXPECT_EQ(stopped.code, kStopped) << stopped.err;
  xlm::Run run_now = only_run();
  EXPECT_EQ(run_now.status, RunStatus::kPreempted) << run_now.reason;
  EXPECT_EQ(run_now.checkpoints.size(), 1U);
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  run_now = only_run();
  expect_whole(run_now);
  EXPECT_THAT(output(run_now), HasSubstr("begins behind 8"));
}

TEST_F(ProgramOfUser, AProgramThatIgnoresTheRequestIsKilledAfterItsGrace) {
  configure_training("  grace: 0.2\n", "", ", stubborn: true");
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until_held();
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait().code, kStopped);
  EXPECT_EQ(only_run().status, RunStatus::kPreempted);
  EXPECT_EQ(left_processes(), "");
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  expect_whole(only_run());
  EXPECT_THAT(output(only_run()), HasSubstr("begins behind 5"));
}

TEST_F(ProgramOfUser, AProgramThatIsKilledIsStartedAgain) {
  configure_training();
  write_file(hold(), "");
  BackgroundProgram train = start({"train", "run.yaml"});
  until_held();
  until([&] { return left_processes().find("train.py") != std::string::npos; });
  const std::string kill =
      "for f in $(grep -l -a -s train[.]py /proc/[0-9]*/cmdline); do d=$(dirname $f); "
      "case $(readlink $d/cwd) in " +
      folder_.path().string() + "*work) kill -9 $(basename $d);; esac; done";
  shell(folder_.path(), kill);
  fs::remove(hold());
  EXPECT_EQ(train.wait().code, kDone);
  const xlm::Run done = only_run();
  expect_whole(done);
  EXPECT_THAT(output(done), HasSubstr("begins behind 5"));
  EXPECT_EQ(std::count_if(done.history.begin(), done.history.end(), [](const auto& s) { return s.state == "running"; }),
            2);
}

TEST_F(ProgramOfUser, AProgramThatIsKilledEachTimeHasThreeAttemptsWheneverItIsAskedFor) {
  write_script("kill.py", "import os\nprint('alive', flush=True)\nos.kill(os.getpid(), 9)\n");
  configure("[python3, kill.py]", "", "sweep: {grid: {seed: [1]}}\n");
  for (const int attempts : {3, 6}) {
    const ProgramResult failed = run({"sweep", "run.yaml"});
    EXPECT_EQ(failed.code, kFailed) << failed.err;
    EXPECT_THAT(failed.out, HasSubstr("signal 9 (Killed), 3 times in a row without getting on: often memory is too "
                                      "small\nits last lines:\nalive"));
    const std::vector<RunState> history = only_run().history;
    const auto began = [](const RunState& s) { return s.state == name_of(RunStatus::kRunning); };
    EXPECT_EQ(std::count_if(history.begin(), history.end(), began), attempts);
  }
}

TEST_F(ProgramOfUser, WhatAFailedProgramSaidIsShownOnceAndElsewhereNamed) {
  write_script("lost.py", "print('begins')\nimport missing_package\n");
  configure("[python3, lost.py]", "", "sweep: {grid: {seed: [1]}}\n");
  const ProgramResult failed = run({"sweep", "run.yaml"});
  EXPECT_EQ(failed.code, kFailed);
  const auto count = [](const std::string& text) { return occurrences(text, "ModuleNotFoundError"); };
  EXPECT_EQ(count(failed.out + failed.err), 1U) << failed.out << failed.err;
  const std::string log = read_file(only_run().folder / "log.txt");
  EXPECT_EQ(count(log), 0U) << log;
  EXPECT_THAT(log, HasSubstr("failed: the program failed: exit code 1 (its last lines: output.txt)"));
  EXPECT_EQ(count(output(only_run())), 1U);
  EXPECT_EQ(count(run({"runs", "show", only_run().id}).out), 1U);
}

TEST_F(ProgramOfUser, AKilledSweepLeavesNoProgramAndResumes) {
  configure_training("", "sweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  {
    BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "2"});
    until_held(2);
    sweep.kill_group(SIGKILL);
  }
  until([&] { return left_processes().empty(); });
  fs::remove(hold());
  EXPECT_EQ(occurrences(run({"sweep", "run.yaml", "--dry-run"}).out, "resumes from"), 2U) << "also if no worker saw it";
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ASSERT_EQ(run_folders().size(), 2U);
  for (const fs::path& folder : run_folders()) {
    expect_whole(read_live_run(folder));
    EXPECT_THAT(output(read_live_run(folder)), HasSubstr("begins behind 5"));
  }
}

TEST_F(ProgramOfUser, AKilledWorkerLeavesNoProgram) {
  configure_training();
  write_file(hold(), "");
  {
    BackgroundProgram train = start({"train", "run.yaml"});
    until_held();
    train.kill(SIGKILL);
  }
  until([&] { return left_processes().empty(); });
  EXPECT_EQ(only_run().status, RunStatus::kStale);
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  expect_whole(only_run());
}

TEST_F(ProgramOfUser, OneThatRestartsBeginsFromNothingAndSupersedesWhatItSaid) {
  write_script("again.sh",
               "if [ -e $1 ]; then for i in 1 2; do echo step $i loss $i.5; done; touch $XLM_RUN/held; "
               "touch $XLM_CHECKPOINTS/x; while [ -e $1 ]; do sleep 0.01; done; sleep 60; fi\n"
               "ls $XLM_CHECKPOINTS; echo step 2 loss 7.5; echo resume=$XLM_RESUME.\n");
  configure("[/bin/sh, again.sh, '" + hold().string() + "']",
            "  resume: restart\n  grace: 0.1\n  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}]\n");
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until([&] { return fs::exists(runs_) && !run_folders().empty() && fs::exists(run_folders()[0] / "held"); });
  until([&] { return only_run().metrics.contains("loss") && only_run().metrics.at("loss").size() == 2; });
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait().code, kStopped);
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  const xlm::Run done = only_run();
  ASSERT_EQ(done.metrics.at("loss").size(), 1U);
  EXPECT_EQ(done.metrics.at("loss").at(2), 7.5);
  EXPECT_THAT(output(done), AllOf(HasSubstr("resume=."), Not(HasSubstr("\nx\n"))));
}

TEST_F(ProgramOfUser, TheStepOfItsCheckpointIsTheOneAtWhichItWasSeen) {
  write_script("saves.sh",
               "echo step 5 loss 1; touch $XLM_CHECKPOINTS/x; for i in 6 7 8; do echo step $i loss 1; done; exit 1\n");
  configure("[/bin/sh, saves.sh]", "  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}]\n");
  EXPECT_EQ(run({"train", "run.yaml"}).code, kFailed);
  // It is seen between two reads of the output, or behind the last one.
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).out, testing::ContainsRegex("resumes from step [5-8] or before"));
  EXPECT_THAT(run({"runs", "show", only_run().id}).out, testing::ContainsRegex("step [5-8] or before  checkpoints/x"));
}

TEST_F(ProgramOfUser, AnAttemptThatIsRefusedRemovesNothing) {
  for (const char* how : {"restart", "checkpoint"}) {
    fs::remove_all(runs_);
    configure_training("  resume: " + std::string(how) + "\n");
    write_file(hold(), "");
    BackgroundProgram first = start({"train", "run.yaml"});
    until_held();
    first.kill(SIGTERM);
    ASSERT_EQ(first.wait().code, kStopped);
    fs::remove(hold());
    const fs::path folder = run_folders().at(0);
    const std::string saved = read_file(folder / "checkpoints" / "last.json");
    const std::string reported = read_file(folder / "metrics.jsonl");
    if (how == std::string("restart")) {
      for (const auto& entry : fs::recursive_directory_iterator(runs_ / ".programs")) {
        if (entry.path().filename() == "train.py") {
          fs::permissions(entry.path(), fs::perms(0644));
          write_file(entry.path(), "damaged");
        }
      }
    } else {  // its disk is missing
      fs::rename(folder / "checkpoints", folder_.path() / "disk");
      fs::create_symlink("/nowhere/disk", folder / "checkpoints");
    }
    EXPECT_NE(run({"worker", folder.string()}).code, kDone);
    if (how == std::string("checkpoint")) {
      fs::remove(folder / "checkpoints");
      fs::rename(folder_.path() / "disk", folder / "checkpoints");
    }
    EXPECT_EQ(read_file(folder / "checkpoints" / "last.json"), saved) << how;
    EXPECT_EQ(read_file(folder / "metrics.jsonl"), reported) << how;
  }
}

TEST_F(ProgramOfUser, WhatFailsSaysHow) {
  write_script("fail.sh", "echo valid 3; echo nothing wrong so far; echo no such option >&2; exit 7\n");
  configure("[/bin/sh, fail.sh]", "  metrics: [{lines: 'valid (?<valid.loss>\\S+)'}]\n");
  const ProgramResult result = run({"train", "run.yaml"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.err, AllOf(HasSubstr("exit code 7"), HasSubstr("no such option")));
  EXPECT_EQ(only_run().status, RunStatus::kFailed);
  EXPECT_THAT(only_run().reason, AllOf(HasSubstr("exit code 7"), HasSubstr("no such option")));
  EXPECT_EQ(only_run().evaluations.size(), 1U);
  EXPECT_EQ(main_evaluation(only_run(), "valid"), nullptr) << "it ended badly, so this is no final number";
}

TEST_F(ProgramOfUser, ItsOwnTokensAreAnAxis) {
  write_script("tokens.sh",
               "for s in 1 2; do echo '{\"step\": '$s', \"tokens\": '$s'00, \"loss\": 3}' >>$XLM_METRICS; done\n");
  configure("[/bin/sh, tokens.sh]");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  write_file(folder_.path() / "figure.yaml", "figure: F\nkind: line\nx: tokens\ny: loss\n");
  const ProgramResult drawn = run({"figure", "figure.yaml", "--format", "html", "--out", "figure.html"});
  EXPECT_EQ(drawn.code, kDone) << drawn.err;
}

TEST_F(ProgramOfUser, ALossThatIsNoNumberDiverged) {
  write_script("nan.sh", "echo '{\"step\": 3, \"loss\": NaN}' >> $XLM_METRICS; sleep 60\n");
  configure("[/bin/sh, nan.sh]");
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDiverged);
  EXPECT_EQ(only_run().status, RunStatus::kDiverged);
}

TEST_F(ProgramOfUser, APatternThatNeverFitsIsAWarningWithTheLastLines) {
  write_script("talk.sh", "echo epoch 1: 3.5; exit 0\n");
  configure("[/bin/sh, talk.sh]", "  metrics: [{lines: 'loss (?<loss>\\S+)'}]\n");
  const ProgramResult result = run({"train", "run.yaml"});
  EXPECT_EQ(result.code, kDone);
  EXPECT_THAT(result.err, AllOf(HasSubstr("warning"), HasSubstr("epoch 1: 3.5")));
}

TEST_F(ProgramOfUser, WordsReachTheProgramAsTheyAreAndItsFolderIsItsOwn) {
  write_script("words.py",
               "import json, os, sys\nopen('own.json', 'w').write(json.dumps(sys.argv[1:]))\n"
               "open('words.py', 'a').write('# changed')\n"
               "open(os.environ['XLM_METRICS'], 'a').write('{\"costs\": {\"params\": 12}}')\n");
  configure("[python3, words.py, 'a b', \"$(touch x) `y`\", \"two\\nlines\", '{{seed}}', '{seed}', '{text}', '{run}']",
            "", "options: {text: '\"q\" ''s'' *'}\nsweep: {grid: {seed: [4, 5]}}\n");
  const ProgramResult result = run({"sweep", "run.yaml"});
  ASSERT_EQ(result.code, kDone) << result.out << result.err;
  for (const fs::path& folder : run_folders()) {
    const xlm::Run done = read_live_run(folder);
    const Json words = read_json(folder / "work" / "own.json");
    EXPECT_EQ(words, Json({"a b", "$(touch x) `y`", "two\nlines", "{seed}", done.param("seed")->dump(), "\"q\" 's' *",
                           fs::absolute(folder).string()}));
    EXPECT_EQ(done.costs.at("params"), 12);
  }
  EXPECT_FALSE(read_file(folder_.path() / "code" / "words.py").ends_with("# changed"));
}

TEST_F(ProgramOfUser, CodeThatIsEditedMeanwhileChangesNothing) {
  configure_training("", "sweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "1"});
  until_held();
  write_script("train.py", "raise SystemExit(1)\n");
  fs::remove(hold());
  EXPECT_EQ(sweep.wait().code, kDone);
  for (const fs::path& folder : run_folders()) expect_whole(read_live_run(folder));
}

TEST_F(ProgramOfUser, NothingOfAFloodIsLostThoughItsReaderIsSlower) {
  write_script("flood.py", "for i in range(30000): print('step', i, 'loss', i * 0.25, 'x' * 40)\n");
  configure("[python3, flood.py]", "  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}]\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const xlm::Run done = only_run();
  EXPECT_EQ(done.metrics.at("loss").size(), 30000U);
  EXPECT_THAT(output(done), HasSubstr("step 29999 loss 7499.75"));
}

TEST_F(ProgramOfUser, ARunThatIsMergedElsewhereResumesThereWithItsCode) {
  configure_training();
  write_file(hold(), "");
  BackgroundProgram first = start({"train", "run.yaml"});
  until_held();
  first.kill(SIGTERM);
  EXPECT_EQ(first.wait().code, kStopped);
  fs::remove(hold());
  fs::rename(folder_.path() / "code", folder_.path() / "gone");
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  const std::string id = only_run().id;
  fs::remove_all(runs_);
  EXPECT_EQ(run({"worker", "other/" + id}).code, kDone);
  expect_whole(read_live_run(folder_.path() / "other" / id));
}

TEST_F(ProgramOfUser, EarlyStoppingJudgesByWhatProgramsReport) {
  configure_training("",
                     "train: {steps: 20}\nsweep:\n  grid: {options.lr: [0.05, 0.1, 0.2]}\n"
                     "  early_stopping: {measure: valid.loss, rungs: [5], keep: 1/3}\n");
  write_file(hold(), "");  // so that none is done before it is told to pause
  BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "1"});
  until_evaluated(3);
  fs::remove(hold());
  const ProgramResult result = sweep.wait();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  std::size_t pruned = 0;
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    pruned += one.status == RunStatus::kPruned ? 1 : 0;
    if (*one.param("options.lr") == 0.2) expect_whole(one, 0.2);
  }
  EXPECT_EQ(pruned, 2U);
}

TEST_F(ProgramOfUser, AnUnknownPlaceholderIsRefusedBeforeAnythingStarts) {
  configure("[python3, train.py, '{learning_rate}']", "", "options: {lr: 1}\n");
  const ProgramResult result = run({"train", "run.yaml"});
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, AllOf(HasSubstr("run.yaml:2"), HasSubstr("{learning_rate}")));
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramOfUser, GoesOnWithACopyOfItsCheckpoints) {
  configure_training("", "train: {steps: 20}\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const fs::path parent = run_folders().at(0);
  const ProgramResult longer = run({"train", "--continue", parent.filename(), "train.steps=30", "options.lr=0.5"});
  EXPECT_EQ(longer.code, kDone) << longer.err;
  ASSERT_EQ(run_folders().size(), 2U);
  const fs::path child = run_folders().at(0) == parent ? run_folders().at(1) : run_folders().at(0);
  EXPECT_EQ(read_live_run(child).parent, parent.filename());
  EXPECT_EQ(read_live_run(child).parent_step, 20);
  EXPECT_THAT(read_file(child / "output.txt"), HasSubstr("begins behind 20"));
  EXPECT_EQ(read_file(child / "checkpoints/last.json"), read_file(parent / "checkpoints/last.json")) << "it was done";
  EXPECT_EQ(run({"train", "--continue", parent.filename(), "train.steps=30", "--at", "5"}).code, kBadData);
  const ProgramResult restarting =
      run({"train", "--continue", parent.filename(), "train.steps=40", "program.resume=restart"});
  EXPECT_EQ(restarting.code, kUsage);
  EXPECT_THAT(restarting.err, HasSubstr("a program with resume: restart begins again each time"));
}

TEST_F(ProgramOfUser, AMistypedOptionIsRemarkedOn) {
  configure_training();
  const auto remarks = [&](const std::string& assignment) {
    return run({"sweep", "run.yaml", assignment, "--dry-run"}).err;
  };
  EXPECT_THAT(remarks("options.lrr=0.2"),
              HasSubstr("options.lrr is an option that the file does not have (did you mean 'lr'?)"));
  for (const char* meant : {"options.lr=0.2", "options.decay=0.2", "seed=2"}) {
    EXPECT_THAT(remarks(meant), Not(HasSubstr("does not have"))) << meant;
  }
}

TEST_F(ProgramOfUser, WholeNumbersThatWouldBecomeOneAreRefused) {
  configure_training();
  for (const char* assignment :
       {"options.lr=12345678901234567890", "sweep.grid={options.lr: [12345678901234567890, 12345678901234567891]}"}) {
    const ProgramResult refused = run({"sweep", "run.yaml", assignment});
    EXPECT_EQ(refused.code, kUsage) << assignment;
    EXPECT_THAT(refused.err, HasSubstr("12345678901234567890")) << assignment;
  }
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramOfUser, EvaluationsOfSeveralProcessesAreAWarningInLists) {
  write_script("ranks.py", "print('step 1')\nfor rank in (3, 4, 5): print('valid', rank)\n");
  configure("[python3, ranks.py]",
            "  metrics: [{lines: 'step (?<step>\\d+)'}, {lines: 'valid (?<valid.loss>\\S+)'}]\n");
  const ProgramResult result = run({"sweep", "run.yaml"});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err,
              HasSubstr("evaluations replaced others of the same step, first 'valid.loss' at step 1; let one process"));
}

}  // namespace
}  // namespace xlm
