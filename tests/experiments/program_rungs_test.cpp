// Early stopping of programs whose evaluations do not stand at the rungs.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Reports VALUE at the steps FIRST, FIRST + EVERY, …, up to 40; it saves after each.
constexpr const char* kEvaluates = R"(import json, os, sys, time
value, first, every = map(int, sys.argv[1:4])
saved = os.environ["XLM_CHECKPOINTS"] + "/s.json"
step = json.load(open(saved)) if os.environ["XLM_RESUME"] == "1" else 0
while step < 40:
    if step >= first and (step - first) % every == 0:
        open(os.environ["XLM_METRICS"], "a").write(json.dumps({"step": step, "split": "valid", "loss": value}) + "\n")
    step += 1
    json.dump(step, open(saved + ".new", "w")); os.replace(saved + ".new", saved)
    time.sleep(0.05)
)";

class ProgramRungs : public ProgramOfUser {
 protected:
  void configure_rungs(int first, int every, const std::string& rungs, const std::string& program = "") {
    write_script("s.py", kEvaluates);
    configure(fmt::format("[python3, s.py, '{{v}}', '{}', '{}']", first, every), program,
              fmt::format("options: {{v: 1}}\ntrain: {{steps: 40}}\nsweep:\n  grid: {{options.v: [3, 1, 2]}}\n"
                          "  early_stopping: {{measure: valid.loss, rungs: {}, keep: 1/3}}\n",
                          rungs));
  }
  void expect_best_of_three() {
    const ProgramResult sweep = run({"sweep", "run.yaml", "--jobs", "1"});
    EXPECT_EQ(sweep.code, kDone) << sweep.out << sweep.err;
    EXPECT_THAT(sweep.out, HasSubstr("1 of 3 runs done, 2 pruned"));
    for (const fs::path& folder : run_folders()) {
      const xlm::Run one = read_live_run(folder);
      EXPECT_EQ(one.status == RunStatus::kDone, *one.param("options.v") == 1) << one.id;
    }
  }
};

TEST_F(ProgramRungs, StepsThatAreCountedFromZeroAreJudgedByTheEvaluationBefore) {
  configure_rungs(9, 10, "[10]");
  expect_best_of_three();
}

TEST_F(ProgramRungs, SoAreEvaluationsOfEpochs) {
  configure_rungs(7, 7, "[10, 20]");
  expect_best_of_three();
}

/// The steps stand in a file, and the measure in the output has none.
TEST_F(ProgramRungs, SoAreNumbersWhoseStepStandsElsewhere) {
  configure_rungs(10, 10, "[10, 20]", "  metrics: [{jsonl: steps.jsonl}, {lines: 'loss (?<valid.loss>[0-9]+)'}]\n");
  write_script("s.py", R"(import json, os, sys, time
saved = os.environ["XLM_CHECKPOINTS"] + "/s.json"
step = json.load(open(saved)) if os.environ["XLM_RESUME"] == "1" else 0
while step < 40:
    step += 1
    if step % 10 == 0:
        with open("steps.jsonl", "a") as file:
            print(json.dumps({"step": step, "lr": 0.1}), file=file)
        print("loss", sys.argv[1], flush=True)
    json.dump(step, open(saved + ".new", "w")); os.replace(saved + ".new", saved)
    time.sleep(0.05)
)");
  expect_best_of_three();
}

TEST_F(ProgramRungs, WhatCanNeverBeJudgedIsAnErrorAndCheckFindsIt) {
  configure_rungs(13, 13, "[10]");
  const ProgramResult sweep = run({"sweep", "run.yaml", "--jobs", "1"});
  EXPECT_EQ(sweep.code, kUsage);
  EXPECT_THAT(sweep.err, AllOf(HasSubstr("no valid.loss at step 10 or before"), HasSubstr("first at step 13")));
  EXPECT_THAT(run({"sweep", "run.yaml", "--check"}).err, HasSubstr("no valid.loss at step 10 or before"));
}

TEST_F(ProgramRungs, CheckFindsAMeasureThatNothingReads) {
  configure_rungs(5, 5, "[10]", "  metrics: [{lines: 'loss (?<loss>.)'}, {lines: 'acc (?<valid.acc>.)'}]\n");
  const ProgramResult check = run({"sweep", "run.yaml", "--check"});
  EXPECT_EQ(check.code, kUsage);
  EXPECT_THAT(check.out, HasSubstr("nothing reads valid.loss"));
  configure_rungs(5, 5, "[10]", "  metrics: [{lines: 'loss (?<valid.loss>.)'}]\n");
  EXPECT_EQ(run({"sweep", "run.yaml", "--check"}).code, kDone);
}

}  // namespace
}  // namespace xlm
