// What a worker writes down: whole records, and none once its run belongs to another.
#include "experiments/worker/journal_sink.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalSinkTest : public ::testing::Test {
 protected:
  JournalSink sink(JournalSink::Settings settings = {}) const { return {run_, lock_, std::move(settings)}; }

  std::vector<Json> records() const { return read_journal(run_.journal()).records; }

  TemporaryFolder folder_;
  RunPaths run_{folder_.path()};
  RunLock lock_{folder_.path()};
};

TEST_F(JournalSinkTest, TheEndOfAnAttemptSaysHowLongItRan) {
  double now = 5;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.state(RunStatus::kRunning, Json::object());
  now = 17.2504;
  out.state(RunStatus::kDone, Json::object());
  out.state(RunStatus::kDone, Json::object());
  EXPECT_FALSE(records()[0].contains("seconds"));
  EXPECT_EQ(records()[1].at("seconds"), 12.25);
  EXPECT_FALSE(records()[2].contains("seconds"));
}

TEST_F(JournalSinkTest, EveryRecordHoldsWhatItWasGiven) {
  JournalSink out = sink();
  out.state(RunStatus::kRunning, {{"pid", 7}});
  out.metrics(1, {{"loss", 2.5}});
  out.grid(2, {.name = "spans", .rows = {{1, 2}, {3, 4}}});
  out.evaluation({.split = "valid",
                  .step = 3,
                  .tokens = 10,
                  .loss = 1.5,
                  .seconds = 0.5,
                  .final = true,
                  .values = {{"bpc", 2.25}},
                  .trace = {.tokens = {"a", "b"}, .values = {{"span", {5, 6}}}},
                  .parts = {.of_documents = true, .each = 2, .tokens = {4, 6}, .sums = {5.00004, 10}}});
  out.costs({{"params", 1000}});
  out.checkpoint(4, folder_.path() / "checkpoints" / "step-4");
  out.message("best so far");
  std::vector<std::string> types;
  for (const Json& record : records()) {
    types.push_back(record.at("type"));
    EXPECT_EQ(record.at("token"), lock_.token());
  }
  ASSERT_THAT(
      types, ElementsAre("state", "metric", "grid", "trace", "losses", "evaluation", "costs", "checkpoint", "message"));
  EXPECT_EQ(records()[0].at("state"), "running");
  EXPECT_EQ(records()[0].at("pid"), 7);
  EXPECT_EQ(records()[1].at("step"), 1);
  EXPECT_EQ(records()[1].at("values"), (Json{{"loss", 2.5}}));
  EXPECT_EQ(records()[2].at("step"), 2);
  EXPECT_EQ(records()[2].at("name"), "spans");
  EXPECT_EQ(records()[2].at("rows"), Json::parse("[[1, 2], [3, 4]]"));
  EXPECT_EQ(records()[3].at("tokens"), Json::parse(R"(["a", "b"])"));
  EXPECT_EQ(records()[3].at("values"), Json::parse(R"({"span": [5, 6]})"));
  EXPECT_EQ(records()[4].at("split"), "valid");
  EXPECT_EQ(records()[4].at("step"), 3);
  EXPECT_EQ(records()[4].at("of"), "documents");
  EXPECT_EQ(records()[4].at("each"), 2);
  EXPECT_EQ(records()[4].at("tokens"), Json::parse("[4, 6]"));
  EXPECT_EQ(records()[4].at("sums"), Json::parse("[5.0, 10.0]")) << "to a ten-thousandth";
  EXPECT_EQ(records()[5].at("split"), "valid");
  EXPECT_EQ(records()[5].at("final"), true);
  EXPECT_EQ(records()[6].at("values"), (Json{{"params", 1000}}));
  EXPECT_EQ(records()[7].at("step"), 4);
  EXPECT_EQ(records()[7].at("file"), "checkpoints/step-4");
  EXPECT_EQ(records()[8].at("text"), "best so far");
  EXPECT_THAT(read_file(run_.log()),
              AllOf(HasSubstr("step 3  valid (final)  loss 1.5000  bpc 2.2500\n"), HasSubstr("  best so far\n")));
}

TEST_F(JournalSinkTest, TheLastStepsAreTimedWithoutEvaluationsAndCheckpoints) {
  double now = 0;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.begin({.times_steps = true});
  for (std::int64_t step = 1; step <= 100; ++step) {
    now += step <= 40 ? 1 : 3;  // spans have grown after step 40
    out.metrics(step, {{"loss", 1}});
    if (step % 10 != 0) continue;
    out.evaluation({.split = "valid", .step = step, .loss = 1});
    out.saving();
    now += 1000;
    out.checkpoint(step, folder_.path() / "checkpoints" / "step");
  }
  out.costs({{"step_seconds", 2.2}});
  const Json values = records().back().at("values");
  EXPECT_EQ(values.at("step_seconds"), 2.2);
  EXPECT_EQ(values.at("last_step_seconds"), 3.0);
}

TEST_F(JournalSinkTest, AnEvaluationHasABarWithItsTimeLeft) {
  double now = 0;
  const fs::path screen = folder_.path() / "screen";
  std::FILE* file = std::fopen(screen.c_str(), "w");
  ASSERT_NE(file, nullptr);
  {
    JournalSink out = sink({.screen = {.file = file, .terminal = {}}, .clock = [&] { return now; }});
    out.begin({.steps = 250});
    out.progress(250, {{"loss", 1}});
    out.evaluating("valid", 0, 4000);
    now += 20;
    out.evaluating("valid", 1000, 4000);
    out.message("a line between");
    out.evaluation({.split = "valid", .step = 250, .loss = 1});
    out.evaluating("test", 0, 8000);
    now += 40;
    out.evaluating("test", 6000, 8000);
    out.evaluating("test", 0, 8000);  // once more, of other weights
    now += 20;
    out.evaluating("test", 1000, 8000);
    out.finish();
  }
  std::fclose(file);
  const std::string text = read_file(screen);
  EXPECT_THAT(text, AllOf(HasSubstr("evaluating valid  25 % "), HasSubstr("  50 tokens/s  "), HasSubstr(" left\n")));
  EXPECT_THAT(text, AllOf(HasSubstr("evaluating test  75 % "), HasSubstr("  150 tokens/s  ")));
  EXPECT_THAT(text, HasSubstr("evaluating test  12 % ")) << "a bar for each evaluation";
  EXPECT_THAT(text, AllOf(HasSubstr("\na line between\n"), HasSubstr("\nstep 250  valid  loss 1.0000")));
}

TEST_F(JournalSinkTest, AFewStepsAreNotTimed) {
  double now = 0;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.begin({.times_steps = true});
  for (std::int64_t step = 1; step <= 20; ++step) {
    now += 1;
    out.metrics(step, {{"loss", 1}});
  }
  out.costs({{"params", 1}});
  EXPECT_FALSE(records().back().at("values").contains("last_step_seconds")) << "20 records hold 19 intervals";
  now += 4;
  out.metrics(22, {{"loss", 1}});
  out.costs({{"params", 1}});
  EXPECT_EQ(records().back().at("values").at("last_step_seconds"), 1.0);
}

/// A program writes many lines at once, and nothing says when their steps ended.
TEST_F(JournalSinkTest, StepsWhoseMetricsAreReadLaterAreNotTimed) {
  double now = 0;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.begin({});
  for (std::int64_t step = 1; step <= 50; ++step) {
    now += 1;
    out.metrics(step, {{"loss", 1}});
  }
  out.costs({{"params", 1}});
  EXPECT_FALSE(records().back().at("values").contains("last_step_seconds"));
}

TEST_F(JournalSinkTest, ACheckpointSaysHowLongItTook) {
  double now = 100;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.saving();
  now += 2.5;
  out.checkpoint(4, folder_.path() / "checkpoints" / "step-4");
  EXPECT_EQ(records().back().at("seconds"), 2.5);
  now += 10;
  out.checkpoint(5, folder_.path() / "checkpoints" / "step-5");
  EXPECT_FALSE(records().back().contains("seconds")) << "its beginning is unknown";
}

TEST_F(JournalSinkTest, NothingIsWrittenOnceTheRunIsTakenOver) {
  JournalSink out = sink();
  out.metrics(1, {{"loss", 2.5}});
  const std::string journal = read_file(run_.journal());
  write_file(folder_.path() / "lock.2", "{}");
  EXPECT_THROW(out.state(RunStatus::kDone), LostRunError);
  EXPECT_THROW(out.metrics(2, {}), LostRunError);
  EXPECT_THROW(out.grid(2, {}), LostRunError);
  EXPECT_THROW(out.evaluation({}), LostRunError);
  EXPECT_THROW(out.costs({}), LostRunError);
  EXPECT_THROW(out.checkpoint(2, folder_.path() / "x"), LostRunError);
  EXPECT_THROW(out.message("mine"), LostRunError);
  EXPECT_THROW(out.check_owner(), LostRunError);
  EXPECT_EQ(read_file(run_.journal()), journal);
  EXPECT_EQ(read_file(run_.log()), "");
}

TEST_F(JournalSinkTest, AJournalThatIsGoneIsNoticedBeforeACheckpointAndByWhateverIsToLast) {
  JournalSink out = sink();
  out.state(RunStatus::kRunning);
  fs::rename(run_.journal(), folder_.path() / "kept");
  const auto expect_noticed = [&](const std::string& how) {
    EXPECT_THROW(out.saving(), DataError) << how;
    EXPECT_THROW(out.checkpoint(1, folder_.path() / "checkpoints" / "step-1"), DataError) << how;
    EXPECT_THROW(out.evaluation({.split = "valid"}), DataError) << how;
    EXPECT_THROW(out.state(RunStatus::kDone), DataError) << how;
  };
  expect_noticed("moved");
  write_file(run_.journal(), "");
  expect_noticed("replaced");
  fs::rename(folder_.path() / "kept", run_.journal());
  out.saving();
  fs::remove(run_.journal());
  expect_noticed("removed");
}

TEST_F(JournalSinkTest, StopsAfterTheHoursThatItMayTake) {
  double now = 5000;
  JournalSink out = sink({.clock = [&] { return now; }});
  out.begin({.max_seconds = 7200});
  now = 5000 + 7199;
  EXPECT_FALSE(out.should_stop());
  now = 5000 + 7200;
  EXPECT_TRUE(out.should_stop());
  out.begin({.max_seconds = 0});
  EXPECT_FALSE(out.should_stop()) << "0 is no limit";
}

TEST_F(JournalSinkTest, StopsWhenAsked) {
  bool asked = false;
  JournalSink out = sink({.should_stop = [&] { return asked; }});
  EXPECT_FALSE(out.should_stop());
  asked = true;
  EXPECT_TRUE(out.should_stop());
}

TEST_F(JournalSinkTest, NotesStandAboveTheBar) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* screen = ::open_memstream(&buffer, &size);
  {
    JournalSink out = sink({.screen = {.file = screen, .terminal = {}}});
    out.message("before there is a bar");
    out.begin({});
    out.message("best so far");
    out.evaluation({.split = "valid", .step = 3, .loss = 1.5});
  }
  std::fclose(screen);
  EXPECT_EQ(std::string(buffer, size), "best so far\nstep 3  valid  loss 1.5000\n");
  std::free(buffer);
}

}  // namespace
}  // namespace xlm
