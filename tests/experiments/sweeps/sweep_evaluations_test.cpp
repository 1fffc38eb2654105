#include "experiments/sweeps/sweep_evaluations.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/exhibits/exhibits.h"
#include "results/tables/table_description.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SweepEvaluationsTest : public ::testing::Test {
 protected:
  SweepEvaluationsTest() : data_(make_data(folder_.path() / "data")) {}

  PlannedRun planned(const std::string& more = "") {
    return Planner(folder_.path() / "runs").plan(read_run_options(parse_yaml(window_config(data_, more), "run.yaml")));
  }

  /// The wanted evaluations of a run, as text.
  std::vector<std::string> wanted(const std::string& evaluate, const PlannedRun& run) {
    SweepEvaluations evaluations(read_evaluations(parse_yaml(evaluate, "sweep.yaml")));
    std::vector<std::string> texts;
    for (const WantedEvaluation& one : evaluations.of(run)) texts.push_back(shown(one));
    evaluations.check_conditions();
    return texts;
  }
  std::vector<std::string> wanted(const std::string& evaluate) { return wanted(evaluate, planned()); }

  std::string refusal(const std::string& evaluate) {
    return thrown_message<Error>([&] { wanted(evaluate); });
  }

  TemporaryFolder folder_;
  fs::path data_;
};

TEST_F(SweepEvaluationsTest, AreTheProductOfTheirListsInFileOrder) {
  EXPECT_THAT(
      wanted("evaluate: {model.overlap: [1, 2], split: [valid, test]}\n"),
      ElementsAre("valid@model.overlap=1", "test@model.overlap=1", "valid@model.overlap=2", "test@model.overlap=2"));
  EXPECT_THAT(wanted("evaluate: {eval.batch: 1, model.window: 4}\n"), ElementsAre("test@eval.batch=1@model.window=4"));
  EXPECT_THAT(wanted("evaluate:\n  - {model.overlap: [1, 2]}\n  - {split: valid}\n  - {model.overlap: 2}\n"),
              ElementsAre("test@model.overlap=1", "test@model.overlap=2", "valid"));
  EXPECT_THAT(wanted("evaluate: {model.overlap: 1, split: null}\n"), ElementsAre("test@model.overlap=1"));
  EXPECT_THAT(wanted("evaluate: null\n"), IsEmpty());
  EXPECT_THAT(wanted("seed: 1\n"), IsEmpty());
}

TEST_F(SweepEvaluationsTest, AreOfTheRunsThatTheyAreAbout) {
  const std::string evaluate = "evaluate: {where: {seed: [1, 2], model.overlap: 0}, model.overlap: 1}\n";
  EXPECT_THAT(wanted(evaluate, planned("seed: 2\n")), ElementsAre("test@model.overlap=1"));
  EXPECT_THAT(wanted(evaluate, planned("seed: 3\n")), IsEmpty());
  const std::string by_name = "evaluate: {where: {experiment: 007}, split: valid}\n";
  EXPECT_THAT(wanted(by_name, planned("experiment: '007'\n")), ElementsAre("valid"));
  EXPECT_THAT(wanted(by_name, planned("experiment: '7'\n")), IsEmpty());
  const std::string seen_from_here = fs::relative(data_).string();
  EXPECT_THAT(wanted("evaluate: {where: {data.path: " + seen_from_here + "}, split: valid}\n"), ElementsAre("valid"));
  EXPECT_THAT(wanted("evaluate: {where: {data.path: " + seen_from_here + "x}, split: valid}\n"), IsEmpty());
}

TEST_F(SweepEvaluationsTest, NameTheirDataFromEverywhere) {
  const fs::path other = make_data(folder_.path() / "other", "ccc");
  const std::vector<std::string> texts = wanted("evaluate: {data.path: " + fs::relative(other).string() + "}\n");
  EXPECT_THAT(texts, ElementsAre("test@data.path=" + other.string()));
}

TEST_F(SweepEvaluationsTest, ThatCannotBeMadeAreRefusedWithTheirLine) {
  EXPECT_THAT(refusal("evaluate:\n  - {model.overlap: 1}\n  - {model.width: 4}\n"),
              AllOf(HasSubstr("sweep.yaml:3"), HasSubstr("an evaluation cannot change 'model.width'")));
  EXPECT_THAT(refusal("evaluate: {eval.select: last}\n"), HasSubstr("an evaluation cannot change 'eval.select'"));
  EXPECT_THAT(refusal("evaluate: {model.overlp: 1}\n"), HasSubstr("did you mean 'model.overlap'"));
  EXPECT_THAT(refusal("evaluate:\n  model.overlap: [1, 8]\n"),
              AllOf(HasSubstr("sweep.yaml:2"), HasSubstr("must be less than model.window")));
  EXPECT_THAT(refusal("evaluate: {model.overlap: many}\n"), HasSubstr("sweep.yaml:1"));
  EXPECT_THAT(refusal("evaluate: {split: tets}\n"), HasSubstr("did you mean 'test'"));
  EXPECT_THAT(refusal("evaluate: {data.path: /nowhere}\n"), AllOf(HasSubstr("sweep.yaml:1"), HasSubstr("/nowhere")));
  EXPECT_THAT(refusal("evaluate: {model.overlap: []}\n"), HasSubstr("empty"));
  EXPECT_THAT(refusal("evaluate: [1, 2]\n"), HasSubstr("must be a map"));
  EXPECT_THAT(refusal("evaluate: {where: {model.overlp: 1}, split: valid}\n"),
              HasSubstr("names 'model.overlp', which no run of the sweep has"));
}

TEST_F(SweepEvaluationsTest, TheExampleInTheDocumentationDoesWhatItSays) {
  const std::string text = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "sweeps.md");
  const std::size_t inside = text.find("\nevaluate:\n");
  const std::size_t begin = text.rfind("```yaml\n", inside) + std::string("```yaml\n").size();
  Yaml tree = parse_yaml(text.substr(begin, text.find("```", inside) - begin), "sweeps.md");
  EXPECT_EQ(read_table_description(find_exhibits(tree, ExhibitKind::kTable).front()).columns.size(), 3U);
  tree.set("data.path", make_scalar(data_.string(), "test"));
  tree.find("evaluate")->items.at(1).find("data.path")->scalar = data_.string();
  std::map<std::size_t, int> runs_by_evaluations;
  for (const SweepRun& run : plan_sweep(recipe_of(tree), folder_.path() / "runs", false)) {
    ++runs_by_evaluations[run.evaluations.size()];
  }
  // Without recurrence three seeds: two overlaps of two splits, and the second corpus. With it nine: only the corpus.
  EXPECT_EQ(runs_by_evaluations, (std::map<std::size_t, int>{{5, 3}, {1, 9}}));
}

TEST_F(SweepEvaluationsTest, OfAModelWithoutWindowsHaveNone) {
  const PlannedRun run = Planner(folder_.path() / "runs").plan(read_run_options(parse_yaml(run_config(data_), "a")));
  EXPECT_THAT(wanted("evaluate: {eval.batch: 1}\n", run), ElementsAre("test@eval.batch=1"));
  EXPECT_THROW(wanted("evaluate: {model.overlap: 1}\n", run), UsageError);
}

}  // namespace
}  // namespace xlm
