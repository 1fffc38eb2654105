// Lines of JSON that a program writes for itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/programs/metric_file_fixture.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ProgramJsonLines : public MetricFileTest {
 protected:
  ProgramJsonLines() : MetricFileTest(MetricKind::kJsonLines, "log.jsonl") {}
};

TEST_F(ProgramJsonLines, NumbersAreTakenAndTheRestIsLeft) {
  EXPECT_THAT(records_of(R"({"step": 1, "loss": 2, "when": "now", "ok": true, "list": [1], "none": null})"
                         "\n"),
              ElementsAre("1: loss=2"));
  EXPECT_THAT(records_of(R"({"step": 2, "train": {"loss": 3, "norm": {"l2": 4}}, "eval/loss": 5, "valid": {"bpc": 6}})"
                         "\n"),
              ElementsAre("train 2: loss=3 norm.l2=4", "valid 2: bpc=6 loss=5"));
  EXPECT_THAT(records_of(R"({"step": 3, "norm": NaN})"
                         "\n"),
              ElementsAre("3: norm=nan"));
}

TEST_F(ProgramJsonLines, ARowMaySayItsSplit) {
  EXPECT_THAT(
      records_of("{\"step\": 1, \"split\": \"train\", \"loss\": 9}\n{\"step\": 1, \"split\": \"valid\", \"loss\": 1}\n"
                 "{\"step\": 2, \"mode\": \"Test\", \"loss\": 3}\n{\"step\": 3, \"mode\": \"fast\", \"loss\": 4}\n"),
      UnorderedElementsAre("1: loss=9", "valid 1: loss=1", "test 2: loss=3", "3: loss=4"));
  EXPECT_THAT(records_of("{\"step\": 4, \"mode\": \"train\", \"val/loss\": 5, \"params\": 6}\n"),
              UnorderedElementsAre("valid 4: loss=5", "costs: params=6"));
  EXPECT_THAT(records_of("{\"it\": 7, \"split\": \"val\", \"l\": 2}\n", {{"it", "step"}, {"l", "loss"}}),
              ElementsAre("valid 7: loss=2"));
}

TEST_F(ProgramJsonLines, WhatItCallsFinalIsADoubt) {
  records_of("{\"step\": 1, \"test.loss\": 5, \"final\": false}\n");
  EXPECT_THAT(readers_->doubts(), IsEmpty());
  records_of("{\"step\": 1, \"test.loss\": 5, \"final\": true}\n{\"step\": 2, \"test.loss\": 6}\n");
  EXPECT_THAT(readers_->doubts(), ElementsAre(HasSubstr("log.jsonl: no number is final that it calls so")));
}

TEST_F(ProgramJsonLines, RowsOfTwoKindsWithOneMeasureAreADoubt) {
  const std::string training = "{\"step\": 50, \"lr\": 1, \"loss\": 0.3}\n{\"step\": 100, \"lr\": 1, \"loss\": 0.2}\n";
  records_of(training + "{\"step\": 100, \"lr\": 1, \"acc\": 0.5}\n{\"step\": 150, \"lr\": 1, \"acc\": 0.6}\n");
  EXPECT_THAT(readers_->doubts(), IsEmpty()) << "lr measures nothing";
  records_of(training +
             "{\"step\": 150, \"lr\": 1, \"loss\": 0.1, \"norm\": 2}\n"
             "{\"step\": 200, \"lr\": 1, \"loss\": 0.1, \"norm\": 2}\n");
  EXPECT_THAT(readers_->doubts(), IsEmpty()) << "one kind has more";
  records_of(training + "{\"step\": 120, \"map\": 0.3, \"loss\": 1.5}\n{\"step\": 140, \"map\": 0.4, \"loss\": 1.5}\n");
  EXPECT_THAT(readers_->doubts(),
              ElementsAre(HasSubstr("log.jsonl: rows of two kinds have 'loss', those with lr and those with map;")));
}

TEST_F(ProgramJsonLines, NamesSayWhatIsTaken) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"global_step", "step"}, {"eval.loss", "valid.loss"}, {"l", "loss"}};
  EXPECT_THAT(records_of("{\"global_step\": 5, \"eval\": {\"loss\": 1}, \"l\": 2, \"other\": 3}\n", names),
              ElementsAre("5: loss=2", "valid 5: loss=1"));
  EXPECT_THAT(records_of("{\"global_step\": 5, \"l\": \"high\"}\n", names),
              ElementsAre(HasSubstr("log.jsonl:1: 'l' is 'high', which is no number\n  {\"global_step\"")));
  EXPECT_THAT(records_of("{\"global_step\": 5, \"l\": true}\n", names),
              ElementsAre(HasSubstr("'l' is 'true', which is no number")));
  EXPECT_THAT(records_of("{\"global_step\": 5.5, \"l\": 1}\n", names),
              ElementsAre(HasSubstr("'global_step' is '5.5'; a step")));
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("no number of eval.loss came; it has global_step, l"),
                                                HasSubstr("no row says its step")));
}

TEST_F(ProgramJsonLines, TextInAColumnOfNumbersIsAnError) {
  EXPECT_THAT(
      records_of("{\"step\": 1, \"loss\": \"-\"}\n{\"step\": 2, \"loss\": 1}\n{\"step\": 3, \"loss\": \"-\"}\n"),
      ElementsAre("2: loss=1", HasSubstr("log.jsonl:3: 'loss' is '-'")));
}

TEST_F(ProgramJsonLines, WhatIsNoRecordIsPassedOverAndTold) {
  EXPECT_THAT(records_of("hello\n{\"step\": 1, \"loss\": 2}\n[1]\n{\"step\": 2, \"lo\n"), ElementsAre("1: loss=2"));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("log.jsonl: 3 lines are no JSON objects, and were passed over; the first is line 1"));
}

TEST_F(ProgramJsonLines, GrowsByteByByteAndIsReadOnAfterAResumption) {
  use();
  const std::string text = "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 3}\n{\"step\": 3, \"loss\": 4}";
  for (const char byte : text) {
    append(file_, std::string(1, byte));
    readers_->poll();
  }
  EXPECT_THAT(sink_.take(), ElementsAre("1: loss=2", "2: loss=3"));
  readers_->finish(false);
  EXPECT_THAT(sink_.take(), ElementsAre("3: loss=4"));
  use({}, Json::parse(readers_->position().dump()));
  append(file_, "{\"loss\": 5}\n");
  readers_->finish(true);
  EXPECT_THAT(sink_.take(), ElementsAre("3: loss=5")) << "of the newest step, and nothing says that others were left";
  EXPECT_THAT(readers_->warnings(), IsEmpty());
}

}  // namespace
}  // namespace xlm
