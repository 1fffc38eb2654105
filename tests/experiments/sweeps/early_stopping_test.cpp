// Which runs continue at a rung, computed by hand; and sweeps that stop runs early, with the program and its fake core.
#include "experiments/sweeps/early_stopping.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/program_fixture.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Measured = std::vector<std::optional<double>>;
constexpr std::nullopt_t kYet = std::nullopt;

/// Two rungs; a third of the settings continue.
const EarlyStopping kRule{.measure = "valid.loss", .rungs = {100, 200}, .keep = 1.0 / 3};

std::vector<std::size_t> rungs_of(const std::vector<RunAtRungs>& runs, bool lower_is_better = true) {
  std::vector<std::size_t> rungs;
  for (const Allowance& allowance : allowances(kRule, runs, lower_is_better)) rungs.push_back(allowance.rung);
  return rungs;
}

/// Runs of settings a, b, …, one each.
std::vector<RunAtRungs> single_seeds(const std::vector<Measured>& measured) {
  std::vector<RunAtRungs> runs;
  for (const Measured& values : measured)
    runs.push_back({std::string(1, static_cast<char>('a' + runs.size())), values});
  return runs;
}

TEST(Allowances, AThirdOfThoseAtARungContinue) {
  EXPECT_THAT(rungs_of(single_seeds({{kYet, kYet}, {kYet, kYet}, {kYet, kYet}, {kYet, kYet}})),
              ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, kYet}, {kYet, kYet}, {kYet, kYet}})), ElementsAre(0, 0, 0, 0))
      << "two are too few to say who is among the best third";
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, kYet}, {3.0, kYet}, {kYet, kYet}})), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, kYet}, {3.0, kYet}, {0.5, kYet}})), ElementsAre(0, 0, 0, 1))
      << "none has continued yet, and now another one is the best";
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, 0.9}, {3.0, kYet}, {0.5, kYet}})), ElementsAre(0, 1, 0, 1))
      << "who has gone on stays so; at the second rung it waits for others";
}

TEST(Allowances, OneContinuesIfNoOtherWillCome) {
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, kYet}})), ElementsAre(0, 1)) << "a third of two is none";
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, 0.5}})), ElementsAre(0, 2));
  const std::vector<Allowance> all = allowances(kRule, single_seeds({{2.0, kYet}, {1.0, 0.5}}), true);
  EXPECT_TRUE(all[0].is_final);
  EXPECT_EQ(all[0].place, 2U);
  EXPECT_EQ(all[0].of, 2U);
  EXPECT_EQ(all[0].judged, 0U);
  EXPECT_EQ(all[1].judged, 1U);
}

TEST(Allowances, NothingIsFinalWhileAnotherMayCome) {
  const std::vector<Allowance> all = allowances(kRule, single_seeds({{1.0, 1.0}, {2.0, kYet}, {kYet, kYet}}), true);
  EXPECT_FALSE(all[1].is_final);
  EXPECT_FALSE(all[0].is_final);
}

TEST(Allowances, MoreIsBetterWhereTheQuantitySaysSo) {
  EXPECT_THAT(rungs_of(single_seeds({{2.0, kYet}, {1.0, kYet}, {3.0, kYet}}), false), ElementsAre(0, 0, 1));
}

TEST(Allowances, SeedsOfASettingAreJudgedTogether) {
  std::vector<RunAtRungs> runs{{"a", {1.0, kYet}}, {"a", {1.2, kYet}}, {"b", {0.9, kYet}}, {"b", {kYet, kYet}}};
  EXPECT_THAT(rungs_of(runs), ElementsAre(0, 0, 0, 0)) << "the second seed of b is still to come";
  runs[3].measured[0] = 1.4;
  EXPECT_THAT(rungs_of(runs), ElementsAre(1, 1, 0, 0)) << "1.1 on average beats 1.15";
}

TEST(Allowances, ASeedGoesOnWithTheOthersOfItsSetting) {
  std::vector<RunAtRungs> runs{{"a", {1.1, kYet}}, {"a", {1.1, kYet}}, {"b", {2.0, kYet}}, {"b", {2.0, kYet}},
                               {"c", {3.0, kYet}}, {"c", {3.0, kYet}}, {"d", {1.0, kYet}}, {"d", {1.0, kYet}}};
  EXPECT_THAT(rungs_of(runs), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  runs[0].left = {true, false};  // it was the best when a worker took it
  EXPECT_THAT(rungs_of(runs), ElementsAre(1, 1, 0, 0, 0, 0, 1, 1));
}

TEST(Allowances, ASettingWithALostRunIsLast) {
  std::vector<RunAtRungs> runs{{"a", {1.0, kYet}}, {"a", {kYet, kYet}, true}, {"b", {9.0, kYet}}, {"b", {9.0, kYet}}};
  EXPECT_THAT(rungs_of(runs), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(rungs_of({{"a", {kYet, kYet}, true}}), ElementsAre(0)) << "none continues if all are lost";
}

TEST(Allowances, OfNoEvaluationThereAreNone) {
  EXPECT_THROW(Halving({.measure = "params", .rungs = {1}, .keep = 0.5}, {}, false), UsageError);
}

class EarlyStoppingFile : public ::testing::Test {
 protected:
  static std::optional<EarlyStopping> rule(const std::string& text) {
    return read_early_stopping(parse_yaml("sweep: {grid: {seed: [1]}, early_stopping: " + text + "}\n", "s.yaml"));
  }
  static std::string refusal(const std::string& text) {
    return thrown_message([&] { rule(text); });
  }
};

TEST_F(EarlyStoppingFile, SaysTheRule) {
  EXPECT_EQ(rule("null"), std::nullopt);
  const auto whole = rule("{measure: valid.bpc, rungs: [10, 30], keep: 1/4}");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->measure, "valid.bpc");
  EXPECT_THAT(whole->rungs, ElementsAre(10, 30));
  EXPECT_DOUBLE_EQ(whole->keep, 0.25);
  EXPECT_DOUBLE_EQ(rule("{rungs: [10], keep: 0.5}")->keep, 0.5);
  EXPECT_DOUBLE_EQ(rule("{rungs: [10]}")->keep, 1.0 / 3);
}

TEST_F(EarlyStoppingFile, RefusesWhatIsNone) {
  EXPECT_THAT(refusal("{rungs: [30, 10]}"), AllOf(HasSubstr("s.yaml:1"), HasSubstr("must be in rising order")));
  EXPECT_THAT(refusal("{rungs: [10, 10]}"), HasSubstr("must be in rising order"));
  EXPECT_THAT(refusal("{measure: valid.bpc}"), HasSubstr("rungs is missing"));
  EXPECT_THAT(refusal("{rungs: [10], keep: 3}"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal("{rungs: [10], keep: 1/0}"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal("{rungs: [10], measure: test.bpc}"), HasSubstr("evaluates only validation"));
  EXPECT_THAT(refusal("{rungs: [10], measure: bpc}"), HasSubstr("evaluates only validation"));
  EXPECT_THAT(refusal("{rungs: [10], kep: 1/3}"), HasSubstr("keep"));
  EXPECT_THAT(refusal("[10]"), HasSubstr("must be a map"));
}

class EarlyStoppingTest : public ProgramTest {
 protected:
  /// Six learning rates, the first the best; rungs at steps 2 and 6 of 10.
  void write_search(const std::string& rule = "{rungs: [2, 6], keep: 1/3}", const std::string& seeds = "[1]") {
    write_file(folder_.path() / "sweep.yaml",
               "data: {path: data}\nmodel: {type: adaptive-span, width: 8, heads: 2, layers: 1, span: 16}\n"
               "train: {steps: 10, batch: 2, block: 4, checkpoint_every: 4, eval_every: 2}\ndevice: cpu\n"
               "sweep: {grid: {optimizer.lr: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], seed: " +
                   seeds + "}, early_stopping: " + rule + "}\n");
  }

  /// The number of runs with this end.
  std::size_t count(RunStatus status) const {
    std::size_t found = 0;
    for (const fs::path& folder : run_folders()) found += read_live_run(folder).status == status ? 1 : 0;
    return found;
  }

  std::size_t all_steps() const {
    std::size_t sum = 0;
    for (const fs::path& folder : run_folders()) sum += steps(folder).size();
    return sum;
  }
};

TEST_F(EarlyStoppingTest, TheBestContinueAndTheRestIsPruned) {
  write_search();
  const ProgramResult first = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out, HasSubstr("1 of 6 runs done, 5 pruned"));
  EXPECT_EQ(count(RunStatus::kDone), 1U);
  EXPECT_EQ(count(RunStatus::kPruned), 5U);
  // Six runs to the first rung, two of them to the second, one to its end.
  EXPECT_EQ(all_steps(), 4 * 2U + 6 + 10);
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    if (one.status != RunStatus::kPruned) continue;
    EXPECT_THAT(one.reason, HasSubstr(" by valid.loss ("));
    EXPECT_TRUE(one.finished);
  }
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(again.code, kDone) << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 of 6 runs done, 5 pruned"));
  EXPECT_EQ(all_steps(), 4 * 2U + 6 + 10) << "nothing was left to do";
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--dry-run"}).out,
              AllOf(HasSubstr("0 of 6 runs to do"), HasSubstr("pruned: place 6 of 6 at step 2 by valid.loss (3.11")));
  EXPECT_THAT(run({"runs", "ls", "--where", "status=pruned", "--columns", "optimizer.lr", "--format", "csv"}).out,
              AllOf(HasSubstr(",0.6\n"), Not(HasSubstr(",0.1\n"))));
}

TEST_F(EarlyStoppingTest, EndsWhereTheWeightsOfARungBecomeTheModel) {
  order("best-at=2");  // the final evaluation is of the step of the first rung, and takes the place of the one there
  write_search();
  const ProgramResult first = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(first.code, kDone) << first.err << first.out;
  EXPECT_THAT(first.out, HasSubstr("1 of 6 runs done, 5 pruned"));
  EXPECT_EQ(count(RunStatus::kPruned), 5U);
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--dry-run"}).out, HasSubstr("place 6 of 6 at step 2"));
}

TEST_F(EarlyStoppingTest, AMeasureThatRunsDoNotHaveIsSaid) {
  write_search("{rungs: [2, 6], keep: 1/3, measure: valid.word_perplexity}");
  const ProgramResult sweep = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(sweep.code, kUsage);
  EXPECT_THAT(sweep.err, AllOf(HasSubstr("has no valid.word_perplexity at step 2"), HasSubstr("it has valid.")));
}

TEST_F(EarlyStoppingTest, WhatIsPrunedIsNotEvaluated) {
  write_search();
  const std::string file = read_file(folder_.path() / "sweep.yaml");
  write_file(folder_.path() / "sweep.yaml", file + "evaluate: {eval.batch: 3}\n");
  const ProgramResult sweep = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(sweep.code, kDone) << sweep.out << sweep.err;
  EXPECT_THAT(sweep.out, HasSubstr("1 of 6 runs done, 1 of 1 evaluations, 5 pruned"));
}

TEST_F(EarlyStoppingTest, WhatIsPrunedCanBeTakenUpAgain) {
  write_search();
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const ProgramResult more = run({"sweep", "sweep.yaml", "sweep.early_stopping.keep=1/2"});
  EXPECT_EQ(more.code, kDone) << more.err;
  EXPECT_THAT(more.out, HasSubstr("1 of 6 runs done, 5 pruned")) << "half of three that come to the second rung is one";
  EXPECT_EQ(all_steps(), 3 * 2U + 2 * 6 + 10);
  const ProgramResult all = run({"sweep", "sweep.yaml", "sweep.early_stopping=null"});
  EXPECT_EQ(all.code, kDone) << all.err;
  expect_all_done(6);
  EXPECT_EQ(all_steps(), 60U) << "each goes on from where it was held";
}

TEST_F(EarlyStoppingTest, AStoppedSweepResumesWithItsDecisions) {
  write_search("{rungs: [2, 6], keep: 1/3}", "[1, 2]");
  write_file(hold(), "");  // those that go on wait at step 3, beyond the first rung
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return fs::exists(runs_) && count(RunStatus::kPreempted) >= 4 && count_running() == 2; });
  sweep.kill(SIGTERM);
  EXPECT_EQ(sweep.wait().code, kStopped);
  EXPECT_EQ(count(RunStatus::kPruned), 0U) << "that is decided at the end";
  fs::remove(hold());
  const ProgramResult rest = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(rest.code, kDone) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("2 of 12 runs done, 10 pruned"));
  for (const fs::path& folder : run_folders()) {
    const std::vector<int> done = steps(folder);
    EXPECT_EQ(std::set<int>(done.begin(), done.end()).size(), done.size()) << "no step twice";
  }
}

TEST_F(EarlyStoppingTest, WorkersThatShareAListDecideTogether) {
  write_search();
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--launcher", "manual"}).code, kDone);
  std::string list;
  for (const auto& entry : fs::recursive_directory_iterator(runs_ / ".workers")) {
    if (entry.path().filename() == "work.json") list = entry.path().string();
  }
  BackgroundProgram one = start({"worker", "--sweep", list});
  BackgroundProgram two = start({"worker", "--sweep", list});
  EXPECT_EQ(one.wait().code, kDone);
  EXPECT_EQ(two.wait().code, kDone);
  EXPECT_EQ(count(RunStatus::kDone), 1U);
  EXPECT_EQ(count(RunStatus::kPruned), 5U);
  EXPECT_EQ(all_steps(), 4 * 2U + 6 + 10);
  EXPECT_THAT(run({"sweep", "sweep.yaml"}).out, HasSubstr("1 of 6 runs done, 5 pruned"));
}

TEST_F(EarlyStoppingTest, ARunThatDivergesIsLast) {
  write_search("{rungs: [2, 6], keep: 1/2}", "[1, 2]");
  order("seed=2:diverge-at=5");  // of the three settings that come beyond the first rung
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_EQ(count(RunStatus::kDiverged), 3U);
  EXPECT_EQ(count(RunStatus::kDone), 0U) << "no setting has come to the second rung whole";
  EXPECT_EQ(count(RunStatus::kPruned), 9U);
}

TEST_F(EarlyStoppingTest, RungsMustBeEvaluations) {
  write_search("{rungs: [3]}");
  const ProgramResult odd = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(odd.code, kUsage);
  EXPECT_THAT(odd.err, AllOf(HasSubstr("sweep.yaml:"), HasSubstr("no evaluation at the rung 3")));
  write_search("{rungs: [10]}");
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kUsage) << "a run has ended there";
  EXPECT_FALSE(fs::exists(runs_));
}

}  // namespace
}  // namespace xlm
