// How many points of a sweep a report says are done.
#include "cmd/points_done.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/prepared/prepared.h"
#include "tests/experiments/experiment_files.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

class PointsOfASweep : public ::testing::Test {
 protected:
  PointsOfASweep() { maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1}); }

  /// "done of all" of a sweep on the made runs.
  std::string done(const std::string& sweep, const std::string& more = "") {
    store_.sync(maker_.runs());
    RunTable runs(store_);
    const Yaml recipe = parse_yaml(more + "sweep: " + sweep + "\n", "recipe.yaml");
    const PointsDone points = points_done(recipe, parse_filters({"experiment=spans"}), runs);
    return fmt::format("{} of {}", points.done, points.all);
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(PointsOfASweep, AreDoneWhereARunHasTheirValues) {
  EXPECT_EQ(done("{grid: {model.span: [64, 256, 999], model.span_type: [fixed, adaptive]}}"), "4 of 6");
  EXPECT_EQ(done("{grid: {model.span: [64], seed: [1, 2]}, include: [{model.span: 256}]}"), "2 of 3");
  EXPECT_EQ(done("{grid: {optimizer.lr: [7.0e-2]}}"), "1 of 1");
  EXPECT_EQ(done("{grid: {model.unheard: [1]}}"), "0 of 1");
  maker_.make({.id = "later", .span = 999, .state = "running"});
  EXPECT_EQ(done("{grid: {model.span: [999]}}"), "0 of 1");
}

TEST_F(PointsOfASweep, OnOtherCorporaAreOthers) {
  const std::string one = make_data(temporary_.path() / "one", "abc").string();
  const std::string two = make_data(temporary_.path() / "two", "cba").string();
  maker_.make({.id = "one"});
  const std::string fingerprint = summarize_prepared(one).fingerprint;
  write_file(RunPaths{maker_.folder("one")}.environment(),
             Json{{"dataset", "abc"}, {"language", ""}, {"fingerprint", fingerprint}}.dump());
  EXPECT_EQ(done(fmt::format("{{grid: {{data.path: [{}, {}]}}}}", one, two)), "1 of 2") << "wherever one lay";
  const std::string elsewhere = "{grid: {data.path: [nowhere/text8, nowhere/pg-19]}}";
  EXPECT_EQ(done(elsewhere, "corpora: {nowhere/text8: text8, nowhere/pg-19: pg-19}\n"), "1 of 2");
  EXPECT_EQ(done(elsewhere, "corpora: {nowhere/text8: text8}\n"), "0 of 0") << "what nowhere/pg-19 holds nobody knows";
}

TEST_F(PointsOfASweep, OfWhichRunsSaySomethingElseAreNotCounted) {
  EXPECT_EQ(done("{grid: {train.epochs: [1, 2]}}"), "0 of 0");
  EXPECT_EQ(done("{grid: {model.span: [64], model.init_from: ['', {model.span: 256}]}}"), "0 of 0");
  EXPECT_EQ(done("{grid: {model.pretrained: [gpt2, gpt2-medium]}}"), "0 of 0");
}

}  // namespace
}  // namespace xlm
