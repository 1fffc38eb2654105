// $XLM_METRICS.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/programs/metric_readers.h"
#include "tests/experiments/programs/recording_sink.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MetricsFile : public ::testing::Test {
 protected:
  /// What one line makes of a file that has nothing else; an error as its text.
  std::vector<std::string> records_of(const std::string& line) {
    RecordingSink sink;
    MetricReaders readers({}, file_, sink);
    fs::remove(file_);
    readers.begin(Json());
    write_whole(file_, line + "\n");
    const std::string error = thrown_message<Error>([&] { readers.poll(); });
    if (!error.empty()) sink.lines.push_back(error);
    return sink.lines;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "metrics.jsonl";
};

TEST_F(MetricsFile, HasRecordsOfEachKind) {
  EXPECT_THAT(records_of(R"({"step": 100, "loss": 2.1, "lr": 1e-3})"), ElementsAre("100: loss=2.1 lr=0.001"));
  EXPECT_THAT(records_of(R"({"step": 1000, "split": "valid", "bpc": 1.31})"), ElementsAre("valid 1000: bpc=1.31"));
  EXPECT_THAT(records_of(R"({"split": "test", "bpc": 1.3, "final": true})"), ElementsAre("test 0: bpc=1.3 final"));
  EXPECT_THAT(records_of(R"({"costs": {"params": 12e6, "flops_per_token": 24e6}})"),
              ElementsAre("costs: flops_per_token=24000000 params=12000000"));
  EXPECT_THAT(records_of(R"({"step": 5, "grid": {"name": "spans", "rows": [[1, 2.5], [3, null]], "columns": [4, 8]}})"),
              ElementsAre("spans 5: [1, 2.5] [3, nan] at 4, 8"));
  EXPECT_THAT(records_of(R"({"step": 7, "loss": 2, "valid.loss": 3, "params": 5, "costs": {"hours": 2}})"),
              ElementsAre("7: loss=2", "valid 7: loss=3", "costs: hours=2 params=5"));
  EXPECT_THAT(records_of(R"({"step": 3e2, "my-own.number_2": -0.5})"), ElementsAre("300: my-own.number_2=-0.5"));
  EXPECT_THAT(records_of("  "), IsEmpty());
}

TEST_F(MetricsFile, WhatFollowsAFinalNumberDoesNotReplaceIt) {
  const std::string final = R"({"step": 9, "split": "test", "bpc": 1.25, "final": true})";
  EXPECT_THAT(records_of(final + "\n" + R"({"step": 9, "split": "test", "bpc": 1.75, "acc": 0.5})"),
              ElementsAre("test 9: acc=0.5 bpc=1.25 final"));
  EXPECT_THAT(records_of(R"({"step": 9, "split": "test", "bpc": 1.75})" + ("\n" + final)),
              ElementsAre("test 9: bpc=1.25 final"));
}

TEST_F(MetricsFile, WhatIsNoRecordIsAnErrorWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"hello", R"(a line is a record such as {"step": 100, "loss": 2.1})"},
      {"[1, 2]", "a line is a record"},
      {R"({"step": 1, "loss": "high"})", "metrics.jsonl:1: 'loss' is 'high', which is no number"},
      {R"({"step": 1, "loss": true})", "'loss' is 'true', which is no number"},
      {R"({"step": 1, "loss": [1]})", "'loss' is '[1]', which is no number"},
      {R"({"step": 1.5, "loss": 1})", "'step' is '1.5'; a step is a whole number"},
      {R"({"step": -1, "loss": 1})", "'step' is '-1'"},
      {R"({"step": "3", "loss": 1})", "'step' is '3'"},
      {R"({"step": 1, "train loss": 1})", "no quantity can be called 'train loss'"},
      {R"({"step": 1, "": 1})", "no quantity can be called ''"},
      {R"({"step": 1, "split": "dev", "loss": 1})", "'split' is 'dev'; it is train, valid or test"},
      {R"({"step": 1, "split": "valid"})", "an evaluation has a number at least"},
      {R"({"step": 1, "loss": 1, "final": true})", "what is final is an evaluation"},
      {R"({"split": "test", "loss": 1, "final": 1})", "'final' is '1'; it is true or false"},
      {R"({"costs": 3})", "'costs' are numbers by name"},
      {R"({"costs": {"params": "many"}})", "'params' is 'many', which is no number"},
      {R"({"grid": [[1]]})", "'grid' is {\"name\": \"NAME\""},
      {R"({"grid": {"name": "a b", "rows": []}})", "no quantity can be called 'a b'"},
      {R"({"grid": {"name": "g", "rows": [1]}})", "'1' is no row of a grid"},
      {R"({"grid": {"name": "g", "rows": [["x"]]}})", "'g' is 'x', which is no number"},
      {R"({"grid": {"name": "g", "rows": [[1, 2]], "columns": [1]}})", "a row of the grid has 2 numbers"},
      {R"({"grid": {"name": "g", "rows": [[1, 2]], "columns": [2, 2]}})", "whole numbers that rise"},
      {R"({"step": 1, "loss": 2)", "a line is a record"},
  };
  for (const auto& [line, reason] : wrong) {
    EXPECT_THAT(records_of(line), ElementsAre(HasSubstr(reason))) << line;
    EXPECT_THAT(records_of(line).front(), HasSubstr("metrics.jsonl:1: ")) << line;
    EXPECT_THAT(records_of(line).front(), HasSubstr("\n  " + line.substr(0, 5))) << line;
  }
}

TEST_F(MetricsFile, NamesAreAdvisedThatCanBe) {
  EXPECT_THAT(records_of(R"j({"step": 1, "train loss (mean)": 1})j").front(),
              HasSubstr("(for example 'train_loss_mean')"));
  EXPECT_THAT(records_of(R"({"step": 1, "eval/loss": 1})").front(), HasSubstr("(for example 'valid.loss')"));
}

/// Python's json writes NaN and Infinity, which JSON does not have.
TEST_F(MetricsFile, NumbersThatAreNotFiniteAreHandedOn) {
  EXPECT_THAT(records_of(R"({"step": 1, "norm": NaN, "a": Infinity, "b": -Infinity, "c": null, "d": "NaN"})"),
              ElementsAre("1: a=inf b=-inf c=nan d=nan norm=nan"));
  EXPECT_THAT(records_of(R"({"step": 1, "note": "NaN, \" NaN", "norm": NaN})"),
              ElementsAre(HasSubstr("'note' is 'NaN, \" NaN', which is no number")));
}

TEST_F(MetricsFile, ALossThatIsNotFiniteIsHandedOnAndThenDiverged) {
  for (const char* name : {"loss", "bpc", "bits_per_byte"}) {
    RecordingSink sink;
    MetricReaders readers({}, file_, sink);
    fs::remove(file_);
    readers.begin(Json());
    write_whole(file_, fmt::format("{{\"step\": 3, \"{}\": NaN}}\n{{\"step\": 4, \"lr\": 1}}\n", name));
    EXPECT_THROW(readers.poll(), DivergedError) << name;
    EXPECT_THAT(sink.take(), ElementsAre(fmt::format("3: {}=nan", name), "4: lr=1"));
    EXPECT_EQ(thrown_message<Error>([&] { readers.poll(); }), "");  // once
  }
  // Another model's choice may be bad at one step, and an evaluation's number is no reason to stop.
  EXPECT_THAT(records_of(R"({"step": 1, "split": "valid", "loss": NaN})"), ElementsAre("valid 1: loss=nan"));
}

TEST_F(MetricsFile, WhatIsBehindAnErrorIsReadAllTheSame) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  write_whole(file_,
              "{\"step\": 1, \"loss\": 1}\nnonsense\n{\"step\": 2, \"loss\": \"x\"}\n{\"step\": 3, \"loss\": 3}\n");
  readers.poll();
  EXPECT_THAT(readers.doubts(), ElementsAre(HasSubstr("2 lines could not be read, the first at metrics.jsonl:2: ")));
  EXPECT_THAT(sink.take(), ElementsAre("1: loss=1", "3: loss=3"));
  EXPECT_EQ(thrown_message<Error>([&] { readers.finish(true); }), "");
}

TEST_F(MetricsFile, EachRecordIsHandedOnOnceHoweverItGrows) {
  const std::string text =
      "{\"step\": 1, \"loss\": 1}\r\n\n{\"step\": 2, \"split\": \"valid\", \"bpc\": 2}\n{\"step\": 3, \"loss\": 3}";
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  readers.poll();
  for (const char byte : text) {
    append(file_, std::string(1, byte));
    readers.poll();
    readers.poll();
  }
  EXPECT_THAT(sink.take(), ElementsAre("1: loss=1", "valid 2: bpc=2"));
  readers.finish(true);
  EXPECT_THAT(sink.take(), ElementsAre("3: loss=3", "valid 2: bpc=2 final"));
  EXPECT_THAT(readers.warnings(), IsEmpty());
}

TEST_F(MetricsFile, ARecordWithoutAStepBelongsToTheNewest) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  write_whole(file_, "{\"step\": 40, \"loss\": 1}\n{\"split\": \"test\", \"bpc\": 1.2, \"final\": true}\n");
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("40: loss=1", "test 40: bpc=1.2 final"));
}

TEST_F(MetricsFile, TheNewestEvaluationsOfADoneRunBecomeFinal) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  write_whole(file_,
              "{\"step\": 1, \"split\": \"valid\", \"bpc\": 3}\n{\"step\": 2, \"split\": \"valid\", \"bpc\": 2}\n"
              "{\"step\": 2, \"split\": \"test\", \"bpc\": 4, \"final\": true}\n"
              "{\"step\": 3, \"split\": \"test\", \"bpc\": 5}\n");
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("valid 1: bpc=3", "test 2: bpc=4 final", "test 3: bpc=5", "valid 2: bpc=2"));
  readers.finish(true);
  EXPECT_THAT(sink.take(), ElementsAre("valid 2: bpc=2 final"));  // test has a final one already

  RecordingSink other;
  MetricReaders stopped({}, file_, other);
  stopped.begin(Json());
  stopped.poll();
  other.take();
  stopped.finish(false);
  EXPECT_THAT(other.take(), IsEmpty());
}

TEST_F(MetricsFile, NumbersOfOneEvaluationComeTogetherAlsoFromSeveralLines) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  append(file_, "{\"step\": 2, \"split\": \"valid\", \"bpc\": 2}\n{\"step\": 2, \"split\": \"valid\", \"words\": 9}\n");
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("valid 2: bpc=2 words=9"));
  append(file_,
         "{\"step\": 2, \"split\": \"valid\", \"seconds\": 1}\n{\"step\": 4, \"split\": \"valid\", \"bpc\": 1}\n");
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("valid 2: bpc=2 seconds=1 words=9", "valid 4: bpc=1"));
}

TEST_F(MetricsFile, AResumedAttemptReadsOnBehindWhatWasHandedOn) {
  RecordingSink sink;
  MetricReaders first({}, file_, sink);
  first.begin(Json());
  write_whole(file_, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"split\": \"valid\", \"bpc\": 2}\n");
  first.poll();
  const Json position = Json::parse(first.position().dump());
  append(file_, "{\"step\": 3, \"loss\": 3}\n{\"step\": 4, \"lo");  // killed, and its worker with it
  sink.take();

  MetricReaders second({}, file_, sink);
  second.begin(position);
  second.poll();
  EXPECT_THAT(sink.take(), ElementsAre("3: loss=3"));
  append(file_, "{\"step\": 2, \"loss\": 2}\n");
  second.poll();
  EXPECT_THAT(sink.take(), ElementsAre("back to 2: loss", "2: loss=2"));
  append(file_, "{\"split\": \"test\", \"bpc\": 7}\n");
  second.finish(true);
  EXPECT_THAT(sink.take(), ElementsAre("test 2: bpc=7", "test 2: bpc=7 final", "valid 2: bpc=2 final"));
  EXPECT_THAT(second.warnings(), ElementsAre(HasSubstr("1 lines were cut off")));
}

/// Otherwise a run that has failed or diverged would do so again without a step.
TEST_F(MetricsFile, WhatWasWrongEndsNoLaterAttempt) {
  for (const std::string wrong : {"{\"step\": 1, \"loss\": \"x\"}\n", "{\"step\": 1, \"loss\": NaN}\n"}) {
    write_whole(file_, "");
    RecordingSink sink;
    MetricReaders first({}, file_, sink);
    first.begin(Json());
    const Json position = first.position();
    append(file_, wrong + "{\"step\": 2, \"loss\": 2}\n");
    EXPECT_NE(thrown_message<Error>([&] { first.poll(); }), "");
    sink.take();
    MetricReaders second({}, file_, sink);
    second.begin(position);
    EXPECT_EQ(sink.take().back(), "2: loss=2");
    second.finish(true);
    EXPECT_THAT(second.warnings(),
                ElementsAre(HasSubstr("an earlier attempt left what is wrong: metrics.jsonl:1: 'loss' is")));
  }
}

/// A record may be whole but for its line end; who goes on may know that, or not.
TEST_F(MetricsFile, AResumedAttemptLosesNothingThatWasWhole) {
  for (const std::string next : {"{\"step\": 2, \"loss\": 2}\n", "\n{\"step\": 2, \"loss\": 2}\n"}) {
    RecordingSink sink;
    write_whole(file_, "");
    MetricReaders first({}, file_, sink);
    first.begin(Json());
    const Json position = first.position();
    write_whole(file_, "{\"step\": 1, \"loss\": 1}");
    first.poll();
    EXPECT_THAT(sink.take(), IsEmpty());
    MetricReaders second({}, file_, sink);
    second.begin(position);
    second.poll();
    append(file_, next);
    second.poll();
    second.finish(true);
    EXPECT_THAT(sink.take(), ElementsAre("1: loss=1", "2: loss=2"));
    EXPECT_THAT(second.warnings(), IsEmpty());
  }
}

TEST_F(MetricsFile, AnAttemptThatKeptNoPositionIsReadFromTheStart) {
  write_whole(file_, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2");
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json::object());
  EXPECT_THAT(sink.take(), ElementsAre("1: loss=1"));
  append(file_, "{\"step\": 1, \"loss\": 5}\n");
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("back to 1: loss", "1: loss=5"));
}

// A best number of the test is printed only where there is a new best one.
TEST_F(MetricsFile, ANameThatDoesNotComeAgainIsVoidWhereStepsAreDoneAgain) {
  const auto line = [](int step, const char* split, int loss) {
    return fmt::format("{{\"step\": {}, \"split\": \"{}\", \"loss\": {}}}\n", step, split, loss);
  };
  for (const int last : {25, 30}) {
    RecordingSink sink;
    fs::remove(file_);
    Json position;
    {
      MetricReaders readers({}, file_, sink);
      readers.begin(Json());
      write_whole(file_, line(20, "test", 3) + line(25, "valid", 2) + line(25, "test", 1));
      readers.poll();
      position = readers.position();
    }
    sink.take();
    MetricReaders readers({}, file_, sink);
    readers.begin(position);
    append(file_, line(25, "valid", 5) + (last > 25 ? line(last, "valid", 4) : ""));
    readers.finish(true);
    const std::vector<std::string> lines = sink.take();
    if (last > 25) {
      EXPECT_THAT(lines, Contains("back to 25: test.loss"));
      EXPECT_THAT(lines, Not(Contains(HasSubstr("test 25: loss=1 final"))));
      EXPECT_THAT(readers.doubts(),
                  Contains(HasSubstr("test.loss at step 25 and later is of an attempt that was left")));
    } else {
      EXPECT_THAT(lines, Contains("test 25: loss=1 final")) << "the same step is only evaluated again";
    }
  }
}

TEST_F(MetricsFile, WhatWasThereBeforeTheFirstAttemptIsNotTheRuns) {
  write_whole(file_, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2");
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  readers.poll();
  append(file_, "{\"step\": 5, \"loss\": 5}\nnonsense\n");
  readers.poll();
  EXPECT_THAT(readers.doubts(), ElementsAre(HasSubstr("metrics.jsonl:3: ")));
  EXPECT_THAT(sink.take(), ElementsAre("5: loss=5"));
}

TEST_F(MetricsFile, AProgramThatWritesItAnewHandsOnWhatIsNew) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  write_whole(file_, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"loss\": 2}\n{\"step\": 3, \"loss\": 3}\n");
  readers.poll();
  sink.take();
  write_whole(file_, "{\"step\": 1, \"loss\": 1}\n");  // the same so far
  readers.poll();
  EXPECT_THAT(sink.take(), IsEmpty());
  append(file_, "{\"step\": 2, \"loss\": 2.5}\n{\"step\": 3, \"loss\": 3}\n");  // and then not
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("2: loss=2.5", "3: loss=3"));
  const fs::path other = folder_.path() / "other";
  write_whole(other,
              "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"loss\": 2.5}\n{\"step\": 3, \"loss\": 3}\n{\"step\": 4, "
              "\"loss\": 4}\n");
  fs::rename(other, file_);
  readers.poll();
  EXPECT_THAT(sink.take(), ElementsAre("4: loss=4"));
  fs::remove(file_);
  readers.poll();
  readers.finish(true);
  EXPECT_THAT(sink.take(), IsEmpty());
}

TEST_F(MetricsFile, StepsThatGoBackAreTold) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  write_whole(
      file_,
      "{\"step\": 1, \"loss\": 1}\n{\"step\": 9, \"loss\": 2}\n{\"step\": 2, \"loss\": 3}\n{\"step\": 1, \"lr\": 3}\n");
  readers.finish(true);
  EXPECT_THAT(sink.take(), ElementsAre("1: loss=1", "9: loss=2", "2: loss=3", "1: lr=3"));
  EXPECT_THAT(readers.warnings(), ElementsAre(HasSubstr("metrics.jsonl:3: 'loss' goes from step 9 back to 2")));
}

TEST_F(MetricsFile, TooManyNamesAreAnError) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  for (int i = 0; i <= 1000; ++i) append(file_, fmt::format("{{\"step\": 1, \"loss_at_{}\": 1}}\n", i));
  EXPECT_THAT(thrown_message<Error>([&] { readers.poll(); }), HasSubstr("'loss_at_1000' is one name too many"));
}

TEST_F(MetricsFile, WhatIsNoFileIsAnErrorAndNothingHangs) {
  fs::create_directory(file_);
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  EXPECT_THAT(thrown_message<Error>([&] {
                readers.begin(Json());
                readers.poll();
              }),
              HasSubstr("metrics.jsonl"));
}

/// It was an error for ever. What is read twice counts once.
TEST_F(MetricsFile, BehindADamagedPositionAllIsReadAgain) {
  append(file_, R"({"step": 1, "loss": 2})"
                "\n");
  for (const Json& position : {Json{{"readers", Json::array()}}, Json{{"records", 1}, {"readers", Json::array({1})}},
                               Json{{"records", Json::object()}, {"readers", {Json::object()}}}, Json{{"x", 1}}}) {
    RecordingSink sink;
    MetricReaders readers({}, file_, sink);
    readers.begin(position);
    EXPECT_THAT(sink.take(), ElementsAre("1: loss=2")) << position;
    EXPECT_THAT(readers.warnings(), ::testing::Contains(HasSubstr("all of it is read again"))) << position;
  }
}

TEST_F(MetricsFile, WhatAProgramWarnsOfIsADoubt) {
  RecordingSink sink;
  MetricReaders readers({}, file_, sink);
  readers.begin(Json());
  append(file_, "{\"warning\": \"steps are counted on\"}\n{\"step\": 2, \"loss\": 2, \"warning\": 3}\n");
  readers.poll();
  EXPECT_THAT(readers.doubts(), ElementsAre("steps are counted on"));
  readers.finish(true);
  EXPECT_THAT(sink.take(), ElementsAre("2: loss=2 warning=3")) << "a number of that name is a number";
}

}  // namespace
}  // namespace xlm
