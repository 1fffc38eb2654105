// The best settings of a sweep: seeds together, best first, and none across corpora.
#include "cmd/best_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

class BestSettings : public ::testing::Test {
 protected:
  void add(const SweepPoint& point, double bpc) {
    SweepRun run{};
    run.point = point;
    planned_.push_back(std::move(run));
    xlm::Run done;
    RunEvaluation evaluation{.split = "valid"};
    evaluation.values = {{"bpc", bpc}, {"shortening_factor", bpc}};
    evaluation.main = true;
    done.evaluations.push_back(std::move(evaluation));
    runs_.push_back(std::move(done));
  }

  static SweepPoint point(const std::string& key, const std::string& value, const std::string& seed) {
    return {{key, make_scalar(value, "test")}, {"seed", make_scalar(seed, "test")}};
  }

  std::string best(const std::string& measure = "bpc") const {
    return best_settings(planned_, swept_keys(planned_), runs_, quantity(measure));
  }

  std::vector<SweepRun> planned_;
  std::vector<xlm::Run> runs_;
};

TEST_F(BestSettings, AreMeansOverSeedsBestFirst) {
  add(point("optimizer.lr", "0.1", "1"), 1.5);
  add(point("optimizer.lr", "0.1", "2"), 1.7);
  add(point("optimizer.lr", "0.2", "1"), 1.4);
  add(point("optimizer.lr", "0.3", "1"), 1.9);
  add(point("optimizer.lr", "0.4", "1"), 2.5);
  EXPECT_EQ(best(),
            "best of 4 settings by valid bpc:\n"
            "  1.4000  optimizer.lr=0.2\n"
            "  1.6000 (mean over 2 seeds)  optimizer.lr=0.1\n"
            "  1.9000  optimizer.lr=0.3\n");
  EXPECT_THAT(best("shortening_factor"), testing::HasSubstr(":\n  2.500  optimizer.lr=0.4\n")) << "more is better";
  EXPECT_EQ(best("loss"), "") << "nothing was measured";
}

TEST_F(BestSettings, ASettingWithAPrunedSeedIsNotRanked) {
  const auto add_pruned = [&](const std::string& lr) {
    add(point("optimizer.lr", lr, "2"), 0);
    runs_.back().evaluations.clear();
    runs_.back().status = RunStatus::kPruned;
  };
  add(point("optimizer.lr", "0.1", "1"), 1.5);
  add(point("optimizer.lr", "0.2", "1"), 1.4);
  add_pruned("0.2");
  add_pruned("0.3");
  EXPECT_EQ(best(),
            "best of 2 settings by valid bpc:\n"
            "  1.5000  optimizer.lr=0.1\n"
            "  not ranked, 1 seed pruned: optimizer.lr=0.2\n");
}

TEST_F(BestSettings, AreNotComparedAcrossCorpora) {
  add(point("data.path", "a", "1"), 1.5);
  add(point("data.path", "b", "1"), 1.4);
  EXPECT_EQ(best(), "");
}

TEST_F(BestSettings, AreNotComparedAcrossPartsOfACorpus) {
  add(point("eval.max_windows", "0", "1"), 1.5);
  add(point("eval.max_windows", "2", "1"), 1.4);
  EXPECT_EQ(best(), "");
}

TEST_F(BestSettings, AreNotShownForOneSetting) {
  add(point("optimizer.lr", "0.1", "1"), 1.5);
  add(point("optimizer.lr", "0.1", "2"), 1.4);
  EXPECT_EQ(best(), "");
}

TEST_F(BestSettings, EqualSeedsOfAProgramAreNoted) {
  const auto add_run = [&](const std::string& setting, double loss, bool program) {
    add({}, loss);
    planned_.back().setting = setting;
    if (program) planned_.back().planned.options.program.emplace();
    runs_.back().evaluations.back().values["seconds"] = static_cast<double>(runs_.size());
  };
  add_run("a", 1.5, true);
  EXPECT_FALSE(seeds_change_nothing(planned_, runs_)) << "one seed says nothing";
  add_run("b", 1.6, true);
  add_run("a", 1.5, true);
  EXPECT_TRUE(seeds_change_nothing(planned_, runs_)) << "seconds are not compared";
  add_run("b", 1.6001, true);
  EXPECT_FALSE(seeds_change_nothing(planned_, runs_));
  planned_.clear();
  runs_.clear();
  add_run("a", 1.5, false);
  add_run("a", 1.5, false);
  EXPECT_FALSE(seeds_change_nothing(planned_, runs_)) << "seeds do reach models";
}

TEST_F(BestSettings, FlagsOfAProgramThatChangeNothingAreNoted) {
  const std::vector<std::string> keys{"options.bias", "options.lr", "seed"};
  const auto add_run = [&](const std::string& bias, const std::string& lr, double loss) {
    SweepPoint made = point("options.bias", bias, "1");
    made.emplace_back("options.lr", make_scalar(lr, "test"));
    add(made, loss);
    planned_.back().planned.options.program.emplace();
  };
  add_run("true", "0.1", 1.5);
  EXPECT_THAT(options_that_change_nothing(planned_, keys, runs_), testing::IsEmpty()) << "nothing to compare";
  add_run("false", "0.1", 1.5);
  add_run("true", "0.2", 1.7);
  EXPECT_THAT(options_that_change_nothing(planned_, keys, runs_), testing::ElementsAre("options.bias"));
  add_run("false", "0.2", 1.6);
  EXPECT_THAT(options_that_change_nothing(planned_, keys, runs_), testing::IsEmpty()) << "it changes something";
}

TEST_F(BestSettings, SoAreItsOtherOptions) {
  const std::vector<std::string> keys{"options.lr", "seed"};
  for (const char* lr : {"0.1", "0.2", "0.3"}) {
    for (const char* seed : {"1", "2"}) {
      add(point("options.lr", lr, seed), std::string(seed) == "1" ? 1.5 : 1.6);
      planned_.back().planned.options.program.emplace();
    }
  }
  EXPECT_THAT(options_that_change_nothing(planned_, keys, runs_), testing::ElementsAre("options.lr"));
}

}  // namespace
}  // namespace xlm
