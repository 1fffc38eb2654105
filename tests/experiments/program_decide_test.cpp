// xlm decide: seeds for undecided claims, within a budget.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kUndecided = 11;

class Decide : public ProgramOfUser {
 protected:
  Decide() {
    // Noise of ±0.05 by seed that is the same everywhere, and a gain of 0.08 of the rate 0.25.
    write_script(
        "train.py",
        "import json, os, random, sys\nrate = float(sys.argv[1])\n"
        "random.seed(int(os.environ['XLM_SEED']) * 7919 + int(rate * 1000))\n"
        "loss = 3 + (0 if rate == 0.25 else 0.08) + 0.05 * random.choice([-1, -0.5, 0.5, 1]) + 1e-6 * random.random()\n"
        "with open(os.environ['XLM_METRICS'], 'a') as file:\n"
        "    file.write(json.dumps({'step': 1, 'split': 'valid', 'loss': loss, 'final': True}) + '\\n')\n");
    describe("");
  }

  void describe(const std::string& more) {
    configure("[python3, train.py, '{lr}']", "",
              "options: {lr: 0.5}\nsweep: {grid: {options.lr: [0.25, 0.5], seed: [1, 2, 3]}}\n"
              "claims:\n  - {claim: less, name: less, value: valid.loss, a: {options.lr: 0.25}, b: {options.lr: 0.5}" +
                  more + "}\n");
  }

  Json decided(const std::string& spend, int code) {
    const ProgramResult result = run({"--json", "decide", "run.yaml", "--spend", spend});
    EXPECT_EQ(result.code, code) << result.out << result.err;
    return Json::parse(result.out);
  }
};

TEST_F(Decide, SeedsAreDoubledUntilAClaimIsDecided) {
  const Json found = decided("60runs", kDone);
  const Json& claim = found["claims"][0];
  EXPECT_EQ(claim["verdict"], "confirmed");
  const auto seeds = claim["seeds"].get<std::int64_t>();
  EXPECT_GT(seeds, 3);
  EXPECT_EQ(seeds % 3, 0);
  EXPECT_LT(claim["p"].get<double>(), claim["level"].get<double>());
  EXPECT_LT(claim["level"].get<double>(), 0.04) << "later looks have less";
  EXPECT_EQ(found["cost"]["runs"], 2 * seeds);
  EXPECT_EQ(std::ssize(run_folders()), 2 * seeds);
  EXPECT_EQ(decided("60runs", kDone)["cost"]["runs"], 0) << "nothing is done twice";
}

TEST_F(Decide, ClaimsAndTheirRecordsKnowItsLooks) {
  ASSERT_EQ(run({"claims", "run.yaml", "--register"}).code, kDone);
  const Json found = decided("60runs", kDone);
  const Json claims = Json::parse(run({"--json", "claims", "run.yaml"}).out);
  EXPECT_EQ(claims[0]["verdict"], "confirmed");
  EXPECT_EQ(claims[0]["registered"], "registered");
  EXPECT_EQ(claims[0]["p"], found["claims"][0]["p"]);
  const Json runs = Json::parse(run({"--json", "runs", "ls", "--where", "tag=look-1"}).out);
  EXPECT_EQ(runs.size(), 6) << "the second look doubled three seeds of both sides";
}

TEST_F(Decide, RunsThatASweepAsksForLaterAreItsOwn) {
  decided("60runs", kDone);
  const std::string all = "sweep.grid.seed=[1, 2, 3, 4, 5, 6]";
  EXPECT_THAT(run({"sweep", "run.yaml", all, "--dry-run"}).err, Not(HasSubstr("later looks")));
  const ProgramResult swept = run({"sweep", "run.yaml", all});
  EXPECT_EQ(swept.code, kDone);
  EXPECT_THAT(swept.err, HasSubstr("6 runs of this sweep were made by xlm decide for later looks"));
  EXPECT_EQ(Json::parse(run({"--json", "runs", "ls", "--where", "tag=look-1"}).out).size(), 0U);
  EXPECT_THAT(run({"sweep", "run.yaml", all}).err, Not(HasSubstr("later looks"))) << "once";
}

TEST_F(Decide, ADecidedClaimStaysSoWhenAnotherOneAddsSeeds) {
  std::string script = read_file(folder_.path() / "code" / "train.py");
  write_script("train.py", script.replace(script.find("else 0.08"), 9, "else 0.8"));
  configure("[python3, train.py, '{lr}']", "",
            "options: {lr: 0.5}\nsweep: {grid: {options.lr: [0.25, 0.5, 0.75], seed: [1, 2, 3]}}\nclaims:\n"
            "  - {claim: less, name: less, value: valid.loss, a: {options.lr: 0.25}, b: {options.lr: 0.5}}\n"
            "  - {claim: none, name: none, value: valid.loss, a: {options.lr: 0.75}, b: {options.lr: 0.5}}\n");
  const Json found = decided("16runs", kUndecided);
  const Json& less = found["claims"][0];
  EXPECT_EQ(less["verdict"], "confirmed") << found;
  EXPECT_EQ(found["claims"][1]["verdict"], "undecided");
  EXPECT_GT(found["claims"][1]["seeds"], less["seeds"]) << "the second claim shares a side, and went on";
  const Json claims = Json::parse(run({"--json", "claims", "run.yaml"}).out);
  EXPECT_EQ(claims[0]["verdict"], "confirmed");
  EXPECT_EQ(claims[0]["p"], less["p"]) << "one verdict, by the seeds of its look";
  const Json again = decided("1runs", kUndecided);
  EXPECT_EQ(again["claims"][0], less);
  EXPECT_EQ(again["cost"]["runs"], 0);
}

TEST_F(Decide, RunsHaveTheTagOfTheirLookBeforeTheyBegin) {
  write_script("train.py",
               "import os\njournal = os.path.join(os.path.dirname(os.environ['XLM_CONFIG']), 'journal.jsonl')\n"
               "assert int(os.environ['XLM_SEED']) <= 3 or 'look-' in open(journal).read()\n" +
                   read_file(folder_.path() / "code" / "train.py"));
  EXPECT_EQ(decided("60runs", kDone)["claims"][0]["verdict"], "confirmed");
}

TEST_F(Decide, APartOfALookDecidesNothing) {
  const fs::path hang = folder_.path() / "hang";
  write_file(hang, "");
  write_script("train.py", "import os, time\nwhile os.environ['XLM_SEED'] == '6' and os.path.exists('" + hang.string() +
                               "'): time.sleep(0.05)\n" + read_file(folder_.path() / "code" / "train.py"));
  const Json stopped = decided("4s", kUndecided);
  EXPECT_EQ(stopped["claims"][0]["seeds"], 3) << stopped;
  EXPECT_EQ(stopped["claims"][0]["why_no_more"].get<std::string>().find("failed"), std::string::npos);
  const Json claims = Json::parse(run({"--json", "claims", "run.yaml"}).out);
  EXPECT_EQ(claims[0]["parts"][0]["seeds"], 3) << claims;
  fs::remove(hang);
  EXPECT_GE(decided("60runs", kDone)["claims"][0]["seeds"], 6);
}

TEST_F(Decide, RunsThatAnotherExperimentHasDoneCount) {
  ASSERT_EQ(run({"sweep", "run.yaml", "experiment=other"}).code, kDone);
  const Json found = decided("60runs", kDone);
  EXPECT_EQ(found["claims"][0]["verdict"], "confirmed");
  EXPECT_EQ(found["cost"]["runs"].get<int>(), 2 * found["claims"][0]["seeds"].get<int>() - 6);
}

TEST_F(Decide, APartOfItsOwnRunsDecidesNothing) {
  write_script("train.py", "import time\ntime.sleep(0.8)\n" + read_file(folder_.path() / "code" / "train.py"));
  const ProgramResult stopped = run({"--json", "decide", "run.yaml", "--spend", "1s", "--jobs", "1"});
  EXPECT_EQ(stopped.code, kUndecided) << stopped.out << stopped.err;
  EXPECT_EQ(Json::parse(stopped.out)["claims"][0]["why_no_more"], "the sweep's own runs are not done");
}

TEST_F(Decide, ABudgetIsNotExceeded) {
  const Json found = decided("13runs", kUndecided);
  EXPECT_LE(found["cost"]["runs"].get<int>(), 13);
  EXPECT_THAT(found["claims"][0]["why_no_more"].get<std::string>(), HasSubstr("beyond the budget"));
  EXPECT_EQ(decided("60runs", kDone)["claims"][0]["verdict"], "confirmed") << "with more it goes on";
}

TEST_F(Decide, APlanOfSeedsEndsAtItsSeeds) {
  describe(", seeds: 3");
  const Json found = decided("60runs", kUndecided);
  EXPECT_EQ(found["claims"][0]["why_no_more"], "its plan of seeds is fulfilled");
  EXPECT_EQ(found["cost"]["runs"], 6);
}

TEST_F(Decide, APlanOfSeedsIsCarriedOut) {
  write_script("train.py",
               "import json, os, random, sys\nrate = float(sys.argv[1])\n"
               "loss = rate + 0.01 * random.Random(f\"{rate} {os.environ['XLM_SEED']}\").random()\n"
               "with open(os.environ['XLM_METRICS'], 'a') as file:\n"
               "    file.write(json.dumps({'step': 1, 'split': 'valid', 'loss': loss, 'final': True}) + '\\n')\n");
  describe(", seeds: 5");
  const Json found = decided("60runs", kDone);
  EXPECT_EQ(found["claims"][0]["verdict"], "confirmed");
  EXPECT_EQ(found["claims"][0]["seeds"], 5) << "its seeds, not twice those of the sweep";
  EXPECT_EQ(found["cost"]["runs"], 10);
  EXPECT_EQ(decided("60runs", kDone)["cost"]["runs"], 0);
}

TEST_F(Decide, SidesWithOtherSeedsAreDoubledEach) {
  configure("[python3, train.py, '{lr}']", "",
            "options: {lr: 0.5}\nsweep:\n  include:\n    - {options.lr: 0.25, seed: 1}\n    - {options.lr: 0.25, seed: "
            "2}\n    - {options.lr: 0.5, seed: 11}\n    - {options.lr: 0.5, seed: 12}\n"
            "claims:\n  - {claim: less, name: less, value: valid.loss, a: {options.lr: 0.25}, b: {options.lr: 0.5}}\n");
  const Json found = decided("8runs", kUndecided);
  EXPECT_EQ(found["cost"]["runs"], 8);
  EXPECT_EQ(found["claims"][0]["seeds"], 4);
}

TEST_F(Decide, APlanIsCarriedOutOfSidesWithUnequalSeedsAndSaysWhatHoldsItUp) {
  const std::string claim =
      "claims:\n  - {claim: less, name: less, value: valid.loss, a: {options.lr: 0.25}, b: {options.lr: 0.5}, seeds: "
      "4}\n";
  const std::string sweep =
      "options: {lr: 0.5}\nsweep:\n  include:\n    - {options.lr: 0.25, seed: 1}\n    - {options.lr: 0.25, seed: 2}\n"
      "    - {options.lr: 0.5, seed: 1}\n";
  configure("[python3, train.py, '{lr}']", "", sweep + claim);
  const Json found = decided("20runs", kDone);
  EXPECT_EQ(found["cost"]["runs"], 8);
  EXPECT_EQ(found["claims"][0]["seeds"], 4);
  write_script("train.py", "import os\nif os.environ['XLM_SEED'] == '2': raise SystemExit('no such seed')\n" +
                               read_file(folder_.path() / "code" / "train.py"));
  const Json failed = decided("20runs", kUndecided);
  EXPECT_THAT(failed["claims"][0]["why_no_more"].get<std::string>(), HasSubstr("have no number"));
}

TEST_F(Decide, DivergedSeedsStandNextToTheVerdict) {
  write_script("train.py",
               "import json, os, sys\nseed = int(os.environ['XLM_SEED'])\nrate = float(sys.argv[1])\n"
               "loss = float('nan') if rate == 0.25 and seed == 2 else rate + 0.001 * (seed * 7 % 5) * rate\n"
               "with open(os.environ['XLM_METRICS'], 'a') as file:\n"
               "    file.write(json.dumps({'step': 1, 'split': 'valid', 'loss': loss, 'final': True}) + '\\n')\n");
  const Json found = decided("60runs", kDone);
  EXPECT_THAT(found["claims"][0]["caveats"].get<std::string>(), HasSubstr("1 diverged"));
  EXPECT_THAT(run({"decide", "run.yaml", "--spend", "60runs"}).out, HasSubstr("1 diverged"));
}

TEST_F(Decide, WhatNoSeedDecidesIsNotRun) {
  write_script(
      "train.py",
      "import json, os\nwith open(os.environ['XLM_METRICS'], 'a') as file:\n"
      "    file.write(json.dumps({'step': 1, 'split': 'valid', 'loss': 2.5123456789123, 'final': True}) + '\\n')\n");
  const Json found = decided("60runs", kUndecided);
  EXPECT_THAT(found["claims"][0]["why_no_more"].get<std::string>(), HasSubstr("no number of seeds"));
  EXPECT_EQ(found["cost"]["runs"], 6) << "equal numbers";
}

TEST_F(Decide, ARunThatFailsEndsItsClaim) {
  write_script("train.py", "import os\nif os.environ['XLM_SEED'] == '5': raise SystemExit('no such seed')\n" +
                               read_file(folder_.path() / "code" / "train.py"));
  const Json found = decided("60runs", kUndecided);
  EXPECT_THAT(found["claims"][0]["why_no_more"].get<std::string>(), HasSubstr(" failed, see "));
  EXPECT_EQ(found["cost"]["runs"], 12) << "each run is tried by one look";
}

TEST_F(Decide, RunsOfAnotherCodeAreNotOfTheSweep) {
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  write_script("train.py", "raise SystemExit('broken')\n");
  const Json found = decided("60runs", kUndecided);
  EXPECT_THAT(found["claims"][0]["why_no_more"].get<std::string>(), HasSubstr("no run has valid.loss yet (3 failed)"));
}

TEST_F(Decide, TheSweepsOwnRunsNeedRoom) {
  const ProgramResult result = run({"decide", "run.yaml", "--spend", "2runs"});
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, HasSubstr("the sweep's own 6 runs are beyond --spend 2runs"));
}

TEST_F(Decide, AnotherNameOfTheExperimentIsThatOfItsClaims) {
  const ProgramResult result = run({"--json", "decide", "run.yaml", "experiment=other", "--spend", "60runs"});
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  EXPECT_EQ(Json::parse(result.out)["claims"][0]["verdict"], "confirmed");
}

TEST_F(Decide, SaysWhatEachStepBought) {
  const ProgramResult result = run({"decide", "run.yaml", "--spend", "60runs"});
  EXPECT_THAT(result.err, HasSubstr("less: 3 to 6 seeds, 6 runs: "));
  EXPECT_THAT(result.out, AllOf(HasSubstr("less: confirmed, p "), HasSubstr(" by this command")));
  EXPECT_EQ(run({"decide", "run.yaml"}).code, kUsage) << "a budget is needed";
}

}  // namespace
}  // namespace xlm
