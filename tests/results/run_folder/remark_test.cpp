// What people say of runs.
#include "results/run_folder/remark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RemarksOfRuns : public ::testing::Test {
 protected:
  RemarksOfRuns() { maker_.make({.id = "a"}); }

  xlm::Run run() const { return read_run(maker_.folder("a")); }
  void remark(const Json& fields) { append_remark(maker_.folder("a"), fields); }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
};

TEST_F(RemarksOfRuns, AddUp) {
  EXPECT_THAT(run().tags, IsEmpty());
  remark({{"tag", "paper"}, {"given", true}});
  remark({{"tag", "baseline"}, {"given", true}});
  remark({{"note", "the disk was slow"}});
  remark({{"note", "it was the network"}});
  remark({{"bad", "wrong corpus"}});
  EXPECT_THAT(run().tags, ElementsAre("baseline", "paper"));
  EXPECT_EQ(run().note, "it was the network");
  EXPECT_EQ(run().bad, "wrong corpus");
  EXPECT_EQ(run().status, RunStatus::kDone) << "nothing else changes";
  EXPECT_EQ(run().malformed, 0);
}

TEST_F(RemarksOfRuns, AreTakenBack) {
  remark({{"tag", "paper"}, {"given", true}});
  remark({{"note", "slow"}});
  remark({{"bad", "wrong corpus"}});
  remark({{"tag", "paper"}, {"given", false}});
  remark({{"note", ""}});
  remark({{"bad", ""}});
  EXPECT_THAT(run().tags, IsEmpty());
  EXPECT_EQ(run().note, "");
  EXPECT_EQ(run().bad, "");
}

TEST(Remarks, TheLatestCountsWhereverItStands) {
  Remarks remarks;
  remarks.add({{"tag", "paper"}, {"given", false}}, 20);
  remarks.add({{"tag", "paper"}, {"given", true}}, 10);
  remarks.add({{"note", "later"}}, 20);
  remarks.add({{"note", "earlier"}}, 10);
  remarks.add({{"bad", "later"}}, 20);
  remarks.add({{"bad", ""}}, 10);
  EXPECT_THAT(remarks.tags(), IsEmpty());
  EXPECT_EQ(remarks.note(), "later");
  EXPECT_EQ(remarks.bad(), "later");
  remarks.add({{"tag", "paper"}, {"given", true}}, 20);
  EXPECT_THAT(remarks.tags(), ElementsAre("paper")) << "of two at one time the last";
}

/// Another machine, or a laptop without time service.
TEST_F(RemarksOfRuns, TheLaterOneCountsWhateverTheClocksSay) {
  const fs::path journal = RunPaths{maker_.folder("a")}.journal();
  for (const double ahead : {600.0, 86400.0, 1e8}) {
    Journal(journal, [&] { return wall_seconds() + ahead; }).append(kRemark, {{"note", "first"}});
    Journal(journal, [&] { return wall_seconds() + ahead; }).append(kRemark, {{"bad", "first"}});
    Journal(journal, [&] { return wall_seconds() + ahead; }).append(kRemark, {{"tag", "t"}, {"given", true}});
    remark({{"note", "second"}});
    remark({{"bad", "second"}});
    remark({{"tag", "t"}, {"given", false}});
    EXPECT_EQ(run().note, "second");
    EXPECT_EQ(run().bad, "second");
    EXPECT_THAT(run().tags, IsEmpty());
  }
}

TEST_F(RemarksOfRuns, TheLaterEvaluationCountsWhateverTheClocksSay) {
  const fs::path journal = RunPaths{maker_.folder("a")}.journal();
  const auto evaluate = [&](const std::string& hash, double loss, double ahead, std::int64_t token) {
    Journal(
        journal, [&] { return wall_seconds() + ahead; }, token)
        .append("evaluation", {{"step", 7},
                               {"split", "test"},
                               {"final", true},
                               {"loss", loss},
                               {"values", Json::object()},
                               {"settings", {{kEvaluationCommand, hash}}}});
    for (const RunEvaluation& evaluation : run().evaluations) {
      if (evaluation.main && evaluation.split == "test") return evaluation.values.at("loss");
    }
    return 0.0;
  };
  EXPECT_EQ(evaluate("z", 6, 600, 0), 6);
  EXPECT_EQ(evaluate("a", 106, 0, 0), 106);
  EXPECT_EQ(evaluate("m", 107, -600, 0), 107);
  EXPECT_EQ(evaluate("b", 108, 0, kHighestToken), 108) << "of a worker";
  EXPECT_EQ(evaluate("y", 109, -1e8, kHighestToken), 109);
}

TEST_F(RemarksOfRuns, OfAWrongTypeAreCountedAsMalformed) {
  remark({{"tag", 3}});
  remark({{"note", {1, 2}}});
  remark({{"bad", true}});
  EXPECT_EQ(run().malformed, 3);
  EXPECT_EQ(run().bad, "");
}

TEST_F(RemarksOfRuns, OutliveABeginningFromNothing) {
  remark({{"bad", "wrong corpus"}});
  maker_.journal({.id = "a"}, 2).append("state", {{"state", "running"}, {"fresh", true}});
  EXPECT_EQ(run().bad, "wrong corpus");
}

TEST_F(RemarksOfRuns, NeedAJournal) { EXPECT_THROW(append_remark(maker_.folder("b"), {{"note", "slow"}}), DataError); }

TEST(ProblemOfTag, LeavesSignsThatConditionsUse) {
  for (const char* tag : {"paper", "v2.1", "first-try", "a_B"}) EXPECT_EQ(problem_of_tag(tag), "") << tag;
  for (const char* tag : {"", "a,b", "a b", "a=b", "<3", "null", "é", "\"a\""}) {
    EXPECT_THAT(problem_of_tag(tag), HasSubstr("tag")) << tag;
  }
}

}  // namespace
}  // namespace xlm
