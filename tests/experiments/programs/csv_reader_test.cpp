// Tables that a program writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/programs/metric_file_fixture.h"
#include "tests/growth.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ProgramCsv : public MetricFileTest {
 protected:
  ProgramCsv() : MetricFileTest(MetricKind::kCsv, "log.csv") {}
};

TEST_F(ProgramCsv, ColumnsAreQuantities) {
  EXPECT_THAT(records_of("step,loss,valid.bpc,note\n1,2.5,,begun\n2,2.25,3,\n3,,,\n"),
              ElementsAre("1: loss=2.5", "2: loss=2.25", "valid 2: bpc=3"));
  EXPECT_THAT(records_of("step;train/loss;eval/loss\r\n1;2;3\r\n"), ElementsAre("1: loss=2", "valid 1: loss=3"));
  EXPECT_THAT(records_of("\xEF\xBB\xBFstep\tloss (mean)\n1\t2\n"), ElementsAre("1: loss_mean=2"));
  EXPECT_THAT(records_of("# step,loss\n1.0e+00,2.0e+00\n"), ElementsAre("1: loss=2"));  // NumPy's savetxt
  EXPECT_THAT(records_of("\"step\",\"a \"\"b\"\"\",\"x,y\"\n\"1\",\"2\",3\n"), ElementsAre("1: a_b=2 x_y=3"));
}

TEST_F(ProgramCsv, TwoColumnsOfOneNameAreSaid) {
  records_of("step,val_loss,val_loss\n1,2.9,9\n");
  EXPECT_THAT(readers_->doubts(), Contains("log.csv has two columns 'val_loss', of which the last one counts"));
}

TEST_F(ProgramCsv, ARowMaySayItsSplit) {
  EXPECT_THAT(records_of("step,split,loss\n1,train,9\n1,val,1\n2,,3\n"),
              UnorderedElementsAre("1: loss=9", "valid 1: loss=1", "2: loss=3"));
  EXPECT_THAT(records_of("it,phase,l\n1,test,9\n", {{"it", "step"}, {"l", "loss"}}), ElementsAre("test 1: loss=9"));
}

TEST_F(ProgramCsv, WordsForNoNumberAreNone) {
  EXPECT_THAT(records_of("step,loss,val_acc\n1,NA,0.5\n2,2,None\n3,N/A,-\n4,null,\n5,--,1\n"),
              ElementsAre("valid 1: acc=0.5", "2: loss=2", "valid 5: acc=1"));
  EXPECT_THAT(records_of("step,loss\n1,2\n2,none of it\n"), ElementsAre("1: loss=2", HasSubstr("'none of it'")));
}

TEST_F(ProgramCsv, NothingIsFinalIfTheFileGotNothingAfterAResume) {
  use();
  write_whole(file_, "step,val_loss\n1,2\n");
  EXPECT_THAT(polled(), ElementsAre("valid 1: loss=2"));
  const Json position = Json::parse(readers_->position().dump());
  use({}, position);
  EXPECT_FALSE(readers_->finish(true));
  EXPECT_THAT(sink_.take(), IsEmpty());
  use({}, position);
  append(file_, "2,1\n");
  EXPECT_TRUE(readers_->finish(true));
  EXPECT_THAT(sink_.take(), ElementsAre("valid 2: loss=1", "valid 2: loss=1 final"));
}

/// Lightning's logger writes a row for each of training and validation, with the columns of both.
TEST_F(ProgramCsv, RowsMayLackMostColumns) {
  EXPECT_THAT(records_of("epoch,step,train_loss,val_loss\n0,9,2.5,\n0,9,,2.75\n1,19,2,\n",
                         {{"step", "step"}, {"train_loss", "loss"}, {"val_loss", "valid.loss"}}),
              ElementsAre("9: loss=2.5", "19: loss=2", "valid 9: loss=2.75"));
}

TEST_F(ProgramCsv, OnlyNamedColumnsAreTakenWhereAnyAre) {
  EXPECT_THAT(records_of("iteration,a,b,c\n5,1,2,x\n", {{"iteration", "step"}, {"b", "loss"}}),
              ElementsAre("5: loss=2"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());
  EXPECT_THAT(records_of("iteration,a\n5,1\n", {{"iteration", "step"}, {"b", "loss"}, {"a", "a"}}),
              ElementsAre("5: a=1"));
  EXPECT_THAT(readers_->warnings(), ElementsAre("log.csv: no number of b came; it has a, iteration"));
}

TEST_F(ProgramCsv, TheHeaderMayComeLate) {
  use();
  readers_->poll();
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("log.csv was never there")));
  append(file_, "\n# a remark, of 2026\n");
  EXPECT_THAT(polled(), IsEmpty());
  append(file_, "step,lo");
  EXPECT_THAT(polled(), IsEmpty());
  append(file_, "ss\n1,2\n");
  EXPECT_THAT(polled(), ElementsAre("1: loss=2"));
  EXPECT_THAT(records_of("a run, begun today\nparams,3\nit,l\n1,2\n", {{"it", "step"}, {"l", "loss"}}),
              ElementsAre("1: loss=2"));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("log.csv: 2 lines do not fit the header, and were passed over; the first is line 1"));
}

TEST_F(ProgramCsv, ATableWithoutAHeaderIsAnError) {
  EXPECT_THAT(records_of("1,2\n2,3\n"),
              ElementsAre(HasSubstr("log.csv:1: a table begins with the names of its columns")));
}

TEST_F(ProgramCsv, TextForANumberIsAnError) {
  EXPECT_THAT(records_of("step,loss\n1,2\n2,high\n3,4\n"),
              ElementsAre("1: loss=2", "3: loss=4",
                          "1 line could not be read, the first at log.csv:3: 'loss' is 'high', which is no number\n  "
                          "2,high"));
  EXPECT_THAT(records_of("step,loss\n1,2\n1.5,9\n2,3\n"),
              ElementsAre("1: loss=2", "2: loss=3", HasSubstr("log.csv:3: 'step' is '1.5'")))
      << "a row of no step";
  EXPECT_THAT(records_of("step,loss\nx,2\n"), ElementsAre(HasSubstr("'step' is 'x'")));
  EXPECT_THAT(records_of("step,loss\n1.5,2\n"), ElementsAre(HasSubstr("'step' is '1.5'; a step is")));
  EXPECT_THAT(records_of("step,loss\n1,1.2.3\n", {{"step", "step"}, {"loss", "loss"}}),
              ElementsAre(HasSubstr("'loss' is '1.2.3'")));
  EXPECT_THAT(records_of("step,loss\n1,nan\n"),
              ElementsAre("1: loss=nan", HasSubstr("log.csv:2: 'loss' is nan at step 1")));
  EXPECT_THAT(records_of("step,lr,lr!\n1,2,3\n"),
              ElementsAre("1: lr=2", HasSubstr("'lr' and 'lr!' are both called 'lr'")));
}

TEST_F(ProgramCsv, TextsThatMayBeNumbersAreTold) {
  EXPECT_THAT(
      records_of("step,loss,val_acc,when\n0,\"1,234.5\",50%,12:30\n1,\"1,100.2\",51%,12:31\n2,987.1,52%,12:32\n"),
      ElementsAre("2: loss=987.1"));
  EXPECT_THAT(readers_->doubts(),
              ElementsAre("log.csv: 2 cells of 'loss' left out, first '1,234.5', which is no number",
                          "log.csv: 3 cells of 'val_acc' left out, first '50%', which is no number"));
}

TEST_F(ProgramCsv, ARowThatDoesNotFitIsPassedOverAndTold) {
  EXPECT_THAT(records_of("step,loss\n1,2\n2,3,4\n3\n4,5,\n"), ElementsAre("1: loss=2", "4: loss=5"));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("log.csv: 2 lines do not fit the header, and were passed over; the first is line 3"));
}

TEST_F(ProgramCsv, ACellMayHaveLineEnds) {
  EXPECT_THAT(records_of("step,text,loss\n1,\"a \"\"b\"\",\n\nc\",2\n2,\"\",3\n3,5\" disk,4\n4,x,y\n"),
              ElementsAre("1: loss=2", "2: loss=3", "3: loss=4", HasSubstr("log.csv:7: 'loss' is 'y'")));
}

TEST_F(ProgramCsv, GrowsByteByByte) {
  const std::string text = "step,loss,text\n1,2,\"x\ny\"\r\n22,33,\n333,4.75,\"\"\n4,5,6";
  use();
  std::vector<std::string> all;
  for (const char byte : text) {
    append(file_, std::string(1, byte));
    for (std::string& record : polled()) all.push_back(std::move(record));
  }
  EXPECT_THAT(all, ElementsAre("1: loss=2", "22: loss=33", "333: loss=4.75"));
  readers_->finish(true);
  EXPECT_THAT(sink_.take(), ElementsAre("4: loss=5 text=6"));
}

/// A row that has no end may lack digits: "1,2" of "1,2.5".
TEST_F(ProgramCsv, TheTornRowOfAKilledProgramIsLeftOut) {
  use();
  write_whole(file_, "step,loss\n1,1\n2,2\n3,3.2");
  readers_->finish(false);
  EXPECT_THAT(sink_.take(), ElementsAre("1: loss=1", "2: loss=2"));
  const Json position = Json::parse(readers_->position().dump());
  for (const bool knows : {false, true}) {
    write_whole(file_, "step,loss\n1,1\n2,2\n3,3.2");
    use({}, position);
    EXPECT_THAT(polled(), IsEmpty());
    append(file_, knows ? "\n2,2.5\n" : "2,2.5\n");
    EXPECT_THAT(polled(), knows ? std::vector<std::string>({"3: loss=3.2", "2: loss=2.5"})
                                : std::vector<std::string>({"back to 2: loss", "2: loss=2.5"}));
    append(file_, "step,loss,lr\n3,3,4\n");  // it writes a header again, with other columns
    EXPECT_THAT(polled(), ElementsAre("3: loss=3 lr=4"));
    readers_->finish(true);
    EXPECT_THAT(sink_.take(), IsEmpty());
  }
}

TEST_F(ProgramCsv, IsWrittenAnewWithWhatItHad) {
  use();
  write_whole(file_, "step,loss\n1,1\n2,2\n");
  EXPECT_THAT(polled(), ElementsAre("1: loss=1", "2: loss=2"));
  write_whole(file_, "step,loss\n1,1\n2,2\n3,3\n");  // as pandas does at every epoch
  EXPECT_THAT(polled(), ElementsAre("3: loss=3"));
  write_whole(file_, "step,loss,acc\n1,1,\n2,2,\n3,3,\n3,,4\n");  // Lightning, when a new column comes
  EXPECT_THAT(polled(), ElementsAre("3: acc=4"));
  write_whole(file_, "");
  EXPECT_THAT(polled(), IsEmpty());
  append(file_, "step,loss\n1,1\n2,9\n3,3\n");  // a program that began again
  EXPECT_THAT(polled(), ElementsAre("2: loss=9", "3: loss=3"));
}

TEST_F(ProgramCsv, WhatOthersLeftThereIsNotTheRuns) {
  write_whole(file_, "step,loss\n1,1\n2,2\n");
  use();
  EXPECT_THAT(polled(), IsEmpty());
  write_whole(file_, "step,loss\n1,1\n");
  EXPECT_THAT(polled(), ElementsAre("1: loss=1"));
}

TEST_F(ProgramCsv, AResumedAttemptKnowsTheHeader) {
  use({{"it", "step"}, {"l", "loss"}});
  write_whole(file_, "it;l\n1;1\n");
  polled();
  append(file_, "2;2\n");
  use({{"it", "step"}, {"l", "loss"}}, Json::parse(readers_->position().dump()));
  EXPECT_THAT(sink_.take(), ElementsAre("2: loss=2"));
  append(file_, "1;3\n");
  EXPECT_THAT(polled(), ElementsAre("back to 1: loss", "1: loss=3"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());  // an attempt may repeat steps
}

/// As a spreadsheet of old writes it.
TEST_F(ProgramCsv, ATableNeedNotBeUtf8) {
  EXPECT_THAT(records_of("step,loss,\xE4\xFC\n1,2,\xFF\n"), ElementsAre("1: loss=2"));
  EXPECT_EQ(readers_->position()["readers"][1]["header"].dump(), "[\"step\",\"loss\",\"\xEF\xBF\xBD\xEF\xBF\xBD\"]");
  EXPECT_THAT(records_of("step,\xE4 (x)\n1,y\n", {{"step", "step"}, {"\xEF\xBF\xBD (x)", "x"}}),
              ElementsAre(HasSubstr("'\xEF\xBF\xBD (x)' is 'y'")));
}

TEST_F(ProgramCsv, ANumberOfStepsIsAskedForWhereNoneComes) {
  EXPECT_THAT(records_of("Step,loss\n5,1\n"), ElementsAre("5: loss=1"));
  EXPECT_THAT(records_of("iteration,loss\n5,1\n"), ElementsAre("0: iteration=5 loss=1"));
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("no row says its step\nsay which column does")));
}

TEST_F(ProgramCsv, TimeIsInProportionToTheFile) {
  const auto read = [&](int rows) {
    std::string text = "step,loss,text\n";
    for (int i = 0; i < rows; ++i) text += fmt::format("{},1.5,\"a\nb\"\n", i);
    write_whole(file_, "");
    use();
    write_whole(file_, text);
    polled();
  };
  EXPECT_LT(growth([&] { read(500); }, [&] { read(8000); }), 64);
}

}  // namespace
}  // namespace xlm
