// Numbers of several sources and attempts: which evaluation is whole, which is the last, and what a later attempt
// voids.
#include "experiments/programs/program_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/programs/recording_sink.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class ProgramRecordsTest : public ::testing::Test {
 protected:
  static void number(ProgramRecords& records, const std::string& name, std::int64_t step, double value) {
    static const std::string source = "log";
    const LinePlace place{source, 1};
    records.number(*records.name(name, place), step, value, place);
  }

  RecordingSink sink_;
  ProgramRecords records_{sink_};
};

TEST_F(ProgramRecordsTest, WhatIsReadLateOfAnEarlierStepIsNotTheLast) {
  number(records_, "valid.loss", 50, 2);
  number(records_, "valid.loss", 100, 1);
  records_.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 50: loss=2", "valid 100: loss=1"));
  number(records_, "valid.acc", 50, 0.5);
  number(records_, "valid.f1", 50, 0.25);
  number(records_, "valid.acc", 100, 0.75);
  records_.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 100: acc=0.75 loss=1", "valid 50: acc=0.5 f1=0.25"));
  records_.finish();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 100: acc=0.75 loss=1 final"));
}

TEST_F(ProgramRecordsTest, ALaterAttemptVoidsNamesFromItsFirstStepOn) {
  number(records_, "loss", 20, 3);
  number(records_, "loss", 60, 2);
  number(records_, "lr", 60, 0.5);
  number(records_, "valid.loss", 20, 3.5);
  number(records_, "valid.loss", 60, 2.5);
  records_.flush();
  sink_.take();
  ProgramRecords later(sink_);
  later.begin(Json::parse(records_.position().dump()));
  later.begin_attempt();
  number(later, "loss", 21, 2.9);
  number(later, "lr", 61, 0.25);
  number(later, "loss", 50, 2.1);
  number(later, "valid.loss", 27, 3);
  later.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("back to 21: loss", "21: loss=2.9", "61: lr=0.25", "50: loss=2.1",
                                        "back to 27: valid.loss", "valid 27: loss=3"));
  later.seen_step(50);
  later.finish();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 27: loss=3 final"));
}

TEST_F(ProgramRecordsTest, WhatComesBeforeTheFirstStepOfAnAttemptVoidsNothing) {
  for (const std::int64_t step : {10, 20}) number(records_, "valid.loss", step, 3);
  number(records_, "loss", 22, 3);
  records_.flush();
  sink_.take();
  ProgramRecords later(sink_);
  later.begin(Json::parse(records_.position().dump()));
  later.begin_attempt(12);  // about: the checkpoint is that of step 20
  number(later, "valid.loss", 12, 3);
  later.seen_step(21);
  number(later, "loss", 21, 2);
  later.seen_step(25);
  number(later, "valid.loss", 25, 2);
  later.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("back to 21: loss", "valid 12: loss=3", "21: loss=2", "valid 25: loss=2"));
}

TEST_F(ProgramRecordsTest, ANameThatCountsAnewAfterAResumeIsSaid) {
  number(records_, "valid.loss", 20, 3);
  number(records_, "loss", 40, 3);
  records_.begin_attempt();
  records_.seen_step(41);
  number(records_, "loss", 41, 2);
  EXPECT_THAT(records_.warnings(), IsEmpty());
  number(records_, "valid.loss", 10, 2);
  EXPECT_THAT(records_.warnings(),
              ElementsAre(HasSubstr("'valid.loss' begins again at step 10, and the program resumed at 41")));
}

TEST_F(ProgramRecordsTest, WhatASecondAttemptLeftIsVoidAfterAThird) {
  for (const std::int64_t step : {20, 40, 60}) number(records_, "valid.acc", step, 0.01 * static_cast<double>(step));
  number(records_, "loss", 60, 3);
  records_.flush();
  const auto go_on = [&](ProgramRecords& before, ProgramRecords& after, std::int64_t first, std::int64_t last) {
    after.begin(Json::parse(before.position().dump()));
    after.begin_attempt();
    for (const std::int64_t step : {first, last}) {
      after.seen_step(step);
      number(after, "loss", step, 2);
    }
    after.flush();
    return sink_.take();
  };
  ProgramRecords second(sink_);
  go_on(records_, second, 51, 95);
  ProgramRecords third(sink_);
  EXPECT_THAT(go_on(second, third, 91, 100),
              ElementsAre("back to 51: valid.acc", "back to 91: loss", "91: loss=2", "100: loss=2"));
  EXPECT_THAT(third.warnings(),
              ElementsAre(HasSubstr("valid.acc at step 51 and later is of an attempt that was left")));
  third.finish();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 40: acc=0.4 final")) << "and not none";
}

TEST_F(ProgramRecordsTest, WhatComesAgainLaterLeavesTheWholePath) {
  number(records_, "valid.acc", 58, 0.5);
  number(records_, "loss", 60, 3);
  records_.begin_attempt();
  records_.seen_step(51);
  number(records_, "loss", 51, 2);
  number(records_, "valid.acc", 63, 0.75);
  records_.flush();
  EXPECT_THAT(sink_.take(), IsSupersetOf({"back to 51: loss", "back to 51: valid.acc", "valid 63: acc=0.75"}));
}

TEST_F(ProgramRecordsTest, WhatCameAgainBeforeAKillStays) {
  number(records_, "valid.acc", 55, 0.5);
  number(records_, "loss", 60, 3);
  ProgramRecords second(sink_);
  second.begin(Json::parse(records_.position().dump()));
  second.begin_attempt();
  second.seen_step(51);
  number(second, "loss", 51, 2);
  number(second, "valid.acc", 55, 0.75);
  second.seen_step(70);
  number(second, "loss", 70, 2);
  second.flush();
  sink_.take();
  ProgramRecords third(sink_);
  third.begin(Json::parse(second.position().dump()));
  third.begin_attempt();
  third.seen_step(61);
  number(third, "loss", 61, 1);
  third.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("back to 61: loss", "61: loss=1"));
  third.finish();
  EXPECT_THAT(sink_.take(), ElementsAre("valid 55: acc=0.75 final"));
}

TEST_F(ProgramRecordsTest, ACostCalledSeedIsNotTheSeed) {
  records_.cost("seed", 99);
  records_.flush();
  EXPECT_THAT(sink_.take(), ElementsAre("costs: reported_seed=99"));
}

TEST_F(ProgramRecordsTest, AnEvaluationBehindWhatTheLastAttemptDidIsNotItsLast) {
  number(records_, "valid.loss", 60, 2.5);
  records_.flush();
  records_.begin_attempt();
  records_.seen_step(50);
  sink_.take();
  records_.finish();
  EXPECT_THAT(sink_.take(), IsEmpty());
}

}  // namespace
}  // namespace xlm
