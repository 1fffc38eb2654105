// Values that another sweep chooses: found in its runs, recorded, and refused where they cannot be found.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "results/run_folder/run_folder.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The fake core's loss is 2 + the learning rate + 0.01 · the seed + 1 / the step.
class ProgramWinnerTest : public ProgramTest {
 protected:
  ProgramWinnerTest() {
    order("best-at=10");  // final evaluations have this loss, too
    write_file(
        file("rates.yaml"),
        run_config("data", "sweep: {grid: {model.span: [8, 16], optimizer.lr: [0.3, 0.0625, 0.2], seed: [1, 2]}}\n"));
  }

  fs::path file(const std::string& name) const { return folder_.path() / name; }

  /// A sweep over the span that takes its rate from rates.yaml.
  void write_asking(const std::string& more, const std::string& keys = "alike: [model.span]") const {
    write_file(
        file("asking.yaml"),
        run_config("data", fmt::format("optimizer: {{lr: {{best_of: rates.yaml, by: valid.loss, {}{}}}}}\n"
                                       "sweep: {{grid: {{model.span: [8, 16]}}}}\n"
                                       "tables: [{{table: spans, rows: model.span, cells: {{value: valid.loss}}}}]\n",
                                       keys, more)));
  }

  ProgramResult sweep(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"sweep", "asking.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  /// The runs of the asking sweep.
  std::vector<xlm::Run> asking_runs() const {
    std::vector<xlm::Run> runs;
    for (const fs::path& folder : run_folders()) {
      xlm::Run run = read_run(folder);
      if (run.experiment == "asking") runs.push_back(std::move(run));
    }
    return runs;
  }
};

TEST_F(ProgramWinnerTest, TheWinnerIsUsedAndRecorded) {
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  write_asking("");
  const ProgramResult result = sweep({"seed=7"});
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("optimizer.lr is 0.0625, the best of rates.yaml by valid.loss ("));
  const std::vector<xlm::Run> runs = asking_runs();
  ASSERT_EQ(runs.size(), 2U);
  for (const xlm::Run& run : runs) {
    EXPECT_EQ(*run.param("optimizer.lr"), 0.0625);
    const std::string sources = run.param("best_of.optimizer.lr")->get<std::string>();
    const std::size_t space = sources.find(' ');
    ASSERT_NE(space, std::string::npos) << "the runs of two seeds have won: " << sources;
    for (const std::string& id : {sources.substr(0, space), sources.substr(space + 1)}) {
      const xlm::Run source = read_run(runs_ / id);
      EXPECT_EQ(*source.param("optimizer.lr"), 0.0625);
      EXPECT_EQ(*source.param("model.span"), *run.param("model.span")) << "alike";
    }
  }
  EXPECT_THAT(run({"table", "asking.yaml"}).out, Not(HasSubstr("fallback")));
}

TEST_F(ProgramWinnerTest, TheRunIsThatOfTheValueWrittenOut) {
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  write_asking("");
  ASSERT_EQ(sweep({"seed=7"}).code, kDone);
  const std::size_t before = run_folders().size();
  write_file(file("plain.yaml"),
             run_config("data", "optimizer: {lr: 0.0625}\nseed: 7\nsweep: {grid: {model.span: [8, 16]}}\n"));
  ASSERT_EQ(run({"sweep", "plain.yaml"}).code, kDone);
  EXPECT_EQ(run_folders().size(), before) << "the identity of a run is the value, not where it came from";
}

TEST_F(ProgramWinnerTest, WithoutRunsTheErrorNamesTheCommandThatMakesThem) {
  write_asking("");
  const ProgramResult result = sweep();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("asking.yaml:5: 'optimizer.lr' is the best of rates.yaml, of which there is no run with "
                              "model.span=8"),
                    HasSubstr("run it first: xlm sweep rates.yaml"), HasSubstr("`fallback: VALUE`")));
  EXPECT_FALSE(fs::exists(runs_)) << "nothing is written";
}

TEST_F(ProgramWinnerTest, AFallbackIsNotedUnderTheTableUntilTheWinnerIsKnown) {
  write_asking(", fallback: 0.0625");
  const ProgramResult result = sweep();
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("optimizer.lr is 0.0625, the fallback: no run of rates.yaml"));
  const std::vector<xlm::Run> runs = asking_runs();
  ASSERT_EQ(runs.size(), 2U);
  for (const xlm::Run& run : runs) EXPECT_EQ(*run.param("best_of.optimizer.lr"), "fallback");
  EXPECT_THAT(run({"table", "asking.yaml"}).out,
              HasSubstr("optimizer.lr=0.0625: the recipe's fallback, as no run of another sweep has chosen it."));
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  ASSERT_EQ(sweep().code, kDone) << "the winner is the value that they were trained with";
  for (const xlm::Run& run : asking_runs()) EXPECT_NE(*run.param("best_of.optimizer.lr"), "fallback");
  EXPECT_THAT(run({"table", "asking.yaml"}).out, Not(HasSubstr("fallback")));
}

TEST_F(ProgramWinnerTest, RunsOfOtherExperimentsMayLackItsColumns) {
  write_file(file("other.yaml"), run_config("data", "experiment: other\n"));
  ASSERT_EQ(run({"train", "other.yaml"}).code, kDone);
  write_asking(", where: {model.recurrence.pool: none}, fallback: 0.0625");
  const ProgramResult result = sweep();
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("optimizer.lr is 0.0625, the fallback: no run of rates.yaml"));
}

TEST_F(ProgramWinnerTest, AnUnfinishedSweepHasNoWinnerYet) {
  order("seed=2:fail-at=5");
  EXPECT_NE(run({"sweep", "rates.yaml"}).code, kDone);
  order("");
  write_asking(", fallback: 0.1");
  const ProgramResult result = sweep();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, AllOf(HasSubstr("3 of 6 runs with model.span=8 are not done"),
                                HasSubstr("finish it first: xlm sweep rates.yaml")));
}

TEST_F(ProgramWinnerTest, APartOfASweepHasNoWinner) {
  ASSERT_EQ(run({"sweep", "rates.yaml", "optimizer.lr=0.3"}).code, kDone);
  write_asking(", fallback: 0.1");
  const ProgramResult result = sweep();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, AllOf(HasSubstr("rates.yaml, which has no run with model.span=8 of its values 0.0625, 0.2"),
                                HasSubstr("finish it first: xlm sweep rates.yaml")));
  ASSERT_EQ(run({"sweep", "rates.yaml", "sweep.grid.optimizer.lr=[0.0625, 0.2]"}).code, kDone);
  EXPECT_EQ(sweep().code, kDone);
}

TEST_F(ProgramWinnerTest, ASweepWithOtherValuesThanItsFileHasAWinner) {
  ASSERT_EQ(run({"sweep", "rates.yaml", "sweep.grid.optimizer.lr=[0.5, 0.4]"}).code, kDone);
  write_asking("");
  const ProgramResult result = sweep({"seed=7"});
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("optimizer.lr is 0.4, the best of rates.yaml"));
}

TEST_F(ProgramWinnerTest, AValueWithADivergedSeedCannotWin) {
  write_file(file("rates.yaml"), run_config("data", "sweep: {grid: {optimizer.lr: [0.3, 0.2], seed: [1]}}\n"));
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  order("seed=2:diverge-at=5");
  EXPECT_NE(run({"sweep", "rates.yaml", "sweep.grid={optimizer.lr: [0.2], seed: [2]}"}).code, kDone);
  order("");
  write_asking("", "where: {model.span: 16}");
  const ProgramResult result = sweep();
  ASSERT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out + result.err, HasSubstr("optimizer.lr is 0.3, the best of rates.yaml"));
}

TEST_F(ProgramWinnerTest, RunsThatDifferInMoreThanTheSeedNeedACondition) {
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  write_asking("", "where: {seed: 1}");
  const ProgramResult result = sweep();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, AllOf(HasSubstr("differ in model.span"), HasSubstr("`where: {model.span: VALUE}`")));
}

TEST_F(ProgramWinnerTest, RunsOnSeveralCorporaNeedACondition) {
  make_data(file("other"), "abcabcabcabc");
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  ASSERT_EQ(run({"sweep", "rates.yaml", "data.path=other"}).code, kDone);
  write_asking("");
  const ProgramResult result = sweep();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, AllOf(HasSubstr("were measured on several corpora: abc (data.fingerprint "),
                                HasSubstr("`where: {data.path: DIR}`")));
  write_asking(fmt::format(", where: {{data.path: {}}}", file("other").string()));
  const ProgramResult chosen = sweep({"seed=7"});
  EXPECT_EQ(chosen.code, kDone) << chosen.err;
}

TEST_F(ProgramWinnerTest, ACommandLineNamesFilesFromTheCurrentFolder) {
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  create_folders(file("below"));
  write_file(file("below") / "one.yaml", run_config("data", "seed: 9\n"));
  const ProgramResult result =
      run({"train", "below/one.yaml", "optimizer.lr={best_of: ./rates.yaml, by: valid.loss, where: {model.span: 16}}"});
  EXPECT_EQ(result.code, kDone) << result.err;
}

TEST_F(ProgramWinnerTest, AValueIsTakenInTrainingAndInPointsOfASweep) {
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  write_file(
      file("one.yaml"),
      run_config("data", "seed: 9\noptimizer: {lr: {best_of: rates.yaml, by: valid.loss, where: {model.span: 8}}}\n"));
  const std::vector<std::vector<std::string>> commands{{"sweep", "one.yaml", "--dry-run"}, {"train", "one.yaml"}};
  for (const std::vector<std::string>& words : commands) {
    const ProgramResult result = run(words);
    ASSERT_EQ(result.code, kDone) << result.err;
    EXPECT_THAT(result.err, HasSubstr("optimizer.lr is 0.0625, the best of rates.yaml by valid.loss ("));
  }
  write_file(file("asking.yaml"),
             run_config("data",
                        "sweep:\n  include:\n    - seed: 9\n"
                        "      optimizer.lr: {best_of: rates.yaml, by: valid.loss, where: {model.span: 16}}\n"));
  const ProgramResult listed = sweep({"--dry-run"});
  EXPECT_THAT(listed.out, HasSubstr("0.0625")) << "the list shows what was chosen";
  ASSERT_EQ(sweep().code, kDone);
  EXPECT_EQ(asking_runs().size(), 0U) << "it is the run of one.yaml, which has that span";
}

TEST_F(ProgramWinnerTest, AProfileIsThatOfTheOtherFileToo) {
  write_file(file("rates.yaml"), run_config("data",
                                            "experiment: rates\nsweep: {grid: {optimizer.lr: [0.3, 0.2]}}\n"
                                            "profiles: {quick: {experiment: quick-rates, train: {steps: 9}}}\n"));
  const ProgramResult rates = run({"sweep", "rates.yaml"});
  ASSERT_EQ(rates.code, kDone) << rates.out << rates.err;
  write_file(file("asking.yaml"),
             run_config("data",
                        "optimizer: {lr: {best_of: rates.yaml, by: valid.loss}}\nsweep: {grid: {seed: [1]}}\n"
                        "profiles: {quick: {train: {steps: 9}}}\n"));
  EXPECT_THAT(sweep({"--profile", "quick"}).err, HasSubstr("run it first: xlm sweep rates.yaml --profile quick"));
  ASSERT_EQ(run({"sweep", "rates.yaml", "--profile", "quick"}).code, kDone);
  EXPECT_EQ(sweep({"--profile", "quick"}).code, kDone);
}

TEST_F(ProgramWinnerTest, MistakesAreFoundWithTheirLine) {
  const auto message = [&](const std::string& keys, const std::vector<std::string>& more) {
    write_asking("", keys);
    const ProgramResult result = sweep(more);
    EXPECT_EQ(result.code, kUsage);
    return result.err;
  };
  EXPECT_THAT(message("were: {model.span: 8}", {"--check"}), HasSubstr("asking.yaml:5: unknown key 'were'"));
  EXPECT_THAT(message("alike: [model.depth]", {"--check"}), HasSubstr("'alike' names 'model.depth'"));
  EXPECT_THAT(message("", {"optimizer.lr=[{best_of: rates.yaml, by: valid.loss}]"}), HasSubstr("an item of a list"));
  EXPECT_THAT(message("where: {model.span: 32}", {"--check"}), HasSubstr("there is no run with model.span=32"))
      << "no point of the other sweep has it";
  EXPECT_THAT(message("where: {model.span: 32}, fallback: 0.1", {"--check"}), HasSubstr("no run with model.span=32"))
      << "a fallback hides no mistake";
  write_file(file("rates.yaml"), run_config("data", "sweep: {grid: {model.span: [8, 16]}}\n"));
  EXPECT_THAT(message("alike: [model.span]", {"--check"}), HasSubstr("has one value of 'optimizer.lr' alone"));
  write_file(file("rates.yaml"), run_config("data",
                                            "optimizer: {lr: {best_of: asking.yaml, by: valid.loss}}\n"
                                            "sweep: {grid: {seed: [1]}}\n"));
  EXPECT_THAT(message("fallback: 0.1", {"--check"}), HasSubstr("asks for its own winner"));
  fs::remove(file("rates.yaml"));
  EXPECT_THAT(message("fallback: 0.1", {"--check"}), HasSubstr("names a file that does not exist: rates.yaml"));
}

TEST_F(ProgramWinnerTest, ACheckIsContentWithASweepThatCanChoose) {
  write_asking("");
  const ProgramResult result = sweep({"--check"});
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  EXPECT_FALSE(fs::exists(runs_));
}

}  // namespace
}  // namespace xlm
