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
