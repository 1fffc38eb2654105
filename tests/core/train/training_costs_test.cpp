// The costs of training, over all attempts of a run that was stopped and resumed.
#include <cstring>

#include <gtest/gtest.h>

#include "core/train/checkpoint.h"
#include "core/train/training_costs.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

constexpr std::size_t kHungry = std::size_t{400} << 20;

/// Allocates memory during evaluations, and frees it.
class HungryEvaluation : public RecordingSink {
 public:
  bool should_stop() override {
    // Called once after every step; a second time only during an evaluation.
    if (asked_after_ == last_step && fed_after_ != last_step) {
      fed_after_ = last_step;
      std::vector<char> hungry(kHungry);
      std::memset(hungry.data(), 1, hungry.size());
      ++meals;
    }
    asked_after_ = last_step;
    return RecordingSink::should_stop();
  }
  int meals = 0;

 private:
  std::int64_t asked_after_ = -1;
  std::int64_t fed_after_ = -1;
};

Json saved_costs(const TrainJob& job) {
  const auto kept = CheckpointFolder(job.folder / "checkpoints").load_newest([](const std::string&) {});
  return kept->state.value("costs", Json());
}

TEST_F(TrainerTest, StepSecondsAreTheMeanOverAllParts) {
  const TrainJob parts = job("parts");
  for (const std::int64_t stop : {12, 22, 24}) {
    RecordingSink sink;
    sink.stop_after = stop;
    ASSERT_EQ(train(parts, sink), TrainOutcome::kStopped) << stop;
  }
  const Json saved = saved_costs(parts);
  ASSERT_TRUE(saved.is_object());
  EXPECT_EQ(saved.at("steps"), (12 - 3) + (10 - 3))
      << "each attempt has three untimed steps, the last one only two steps";
  EXPECT_EQ(saved.at("tokens"), 16 * 4 * 16);
  RecordingSink last;  // the final evaluation alone
  ASSERT_EQ(train(parts, last), TrainOutcome::kDone);
  EXPECT_DOUBLE_EQ(last.cost.at("step_seconds"), saved.at("seconds").get<double>() / 16);
  EXPECT_EQ(last.cost.at("peak_memory"), saved.at("peak_memory").get<double>());
}

TEST_F(TrainerTest, PeakMemoryIsThatOfTrainingAlone) {
  RecordingSink plain;
  ASSERT_EQ(train(job("plain"), plain), TrainOutcome::kDone);
  HungryEvaluation hungry;
  ASSERT_EQ(train(job("hungry"), hungry), TrainOutcome::kDone);
  EXPECT_GT(hungry.meals, 2);
  EXPECT_GT(hungry.cost.at("peak_memory"), 0);
  EXPECT_LT(hungry.cost.at("peak_memory"), plain.cost.at("peak_memory") + kHungry / 2.0);
}

/// Keeps what is said of costs, by the step after which it is said.
class CostsByStep : public RecordingSink {
 public:
  void costs(const NamedValues& values) override {
    RecordingSink::costs(values);
    by_step[last_step] = values;
  }
  std::map<std::int64_t, NamedValues> by_step;
};

TEST_F(TrainerTest, EveryAttemptSaysOnceWhatMemoryItsFirstStepsTake) {
  TrainJob parts = job("parts");
  parts.options.train.log_every = 2;
  CostsByStep first;
  first.stop_after = 13;
  ASSERT_EQ(train(parts, first), TrainOutcome::kStopped);
  ASSERT_EQ(first.by_step.size(), 1U);
  const auto& [step, memory] = *first.by_step.begin();
  EXPECT_EQ(step, 4) << "the first record behind the three steps that warm caches";
  EXPECT_EQ(memory.size(), 1U) << "on the CPU nothing else is known";
  EXPECT_GT(memory.at("peak_memory"), 0);
  CostsByStep second;
  ASSERT_EQ(train(parts, second), TrainOutcome::kDone);
  ASSERT_EQ(second.by_step.size(), 2U);
  EXPECT_EQ(second.by_step.begin()->first, 18) << "its fourth step is 17";
  EXPECT_GE(second.by_step.begin()->second.at("peak_memory"), memory.at("peak_memory"));
  EXPECT_TRUE(second.by_step.rbegin()->second.contains("params")) << "all costs come at the end";
  RecordingSink at_once;
  ASSERT_EQ(train(job("at-once"), at_once), TrainOutcome::kDone);
  EXPECT_EQ(second.losses.at(24), at_once.losses.at(24)) << "it changes no step";
}

TEST(TrainingCosts, ReservedMemoryIsTheMostOfAllAttempts) {
  TrainingCosts costs(torch::kCPU, nullptr);
  EXPECT_EQ(costs.values().count("reserved_memory"), 0U) << "there is no GPU";
  Json saved = costs.state();
  saved["reserved_memory"] = 5'000'000'000;
  costs.restore(saved);
  EXPECT_EQ(costs.values().at("reserved_memory"), 5e9);
  EXPECT_EQ(costs.state().at("reserved_memory"), 5'000'000'000);
  saved.erase("reserved_memory");
  costs.restore(saved);
  EXPECT_EQ(costs.values().count("reserved_memory"), 0U) << "a checkpoint of an older version";
}

}  // namespace
}  // namespace xlm
