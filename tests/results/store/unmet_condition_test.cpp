// Conditions that no run fulfils: which it is, and what there is instead.
#include "results/store/unmet_condition.h"

#include <gtest/gtest.h>

#include "tests/results/run_maker.h"

namespace xlm {
namespace {

class UnmetConditions : public ::testing::Test {
 protected:
  std::string unmet(const std::vector<std::string>& conditions) {
    RunTable runs(store_);
    return unmet_condition(runs, parse_filters(conditions));
  }

  void make_sweep() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(UnmetConditions, NameTheNearestValue) {
  make_sweep();
  EXPECT_EQ(unmet({"data.name=text8-en"}), "no run has data.name=text8-en; the nearest there is: text8")
      << "the beginning of a name is near, however many letters are missing";
  EXPECT_EQ(unmet({"model.span=200"}), "no run has model.span=200; the nearest there is: 256, besides 64");
  EXPECT_EQ(unmet({"model.span_type=adaptve"}),
            "no run has model.span_type=adaptve; the nearest there is: adaptive, besides fixed");
  EXPECT_EQ(unmet({"seed>2"}), "no run has seed>2; the nearest there is: 2, besides 1");
}

TEST_F(UnmetConditions, AreAskedOneAfterAnother) {
  make_sweep();
  maker_.make({.id = "wide", .type = "dynamic", .span = 512});
  store_.sync(maker_.runs());
  EXPECT_EQ(unmet({"model.span_type=dynamic", "model.span=64", "seed=9"}),
            "none of 1 run with model.span_type=dynamic has model.span=64; the nearest there is: 512");
}

TEST_F(UnmetConditions, OfWhatNoRunHasSayThat) {
  maker_.make({.id = "queued", .state = "queued"});
  store_.sync(maker_.runs());
  EXPECT_EQ(unmet({"test.bpc<2"}), "no run has test.bpc<2; they have no test.bpc");
}

TEST_F(UnmetConditions, OfASettingNameTheOthersThatItsEvaluationsHave) {
  const MadeRun run{.id = "measured"};
  maker_.make(run);
  maker_.evaluate(run, "test", 2, {{"eval.batch", 1}, {"data.name", "pg-19"}, {"data.fingerprint", "beef"}});
  store_.sync(maker_.runs());
  EXPECT_EQ(
      unmet({"at.eval.batch=1"}),
      "no run has at.eval.batch=1; evaluations with at.eval.batch also have at.data.name=pg-19: name that setting "
      "too");
  EXPECT_EQ(unmet({"at.eval.batch=1", "at.data.name=pg-19"}), "");
  EXPECT_EQ(unmet({"at.eval.batch=2"}), "no run has at.eval.batch=2; the nearest there is: 8");
  RunTable runs(store_);
  EXPECT_EQ(further_settings(runs, {}, {"at.data.name", "test.bpc"}),
            "evaluations with at.data.name also have at.eval.batch=1: name that setting too");
  EXPECT_EQ(further_settings(runs, {}, {"at.data.name", "at.eval.batch"}), "");
  EXPECT_EQ(further_settings(runs, {}, {"test.bpc"}), "");
}

TEST_F(UnmetConditions, AreNoneWhereARunFulfilsThemAll) {
  EXPECT_EQ(unmet({"seed=1"}), "there are no runs");
  make_sweep();
  EXPECT_EQ(unmet({"seed=1", "model.span=64"}), "");
}

}  // namespace
}  // namespace xlm
