// Lines of tries: their order, their levels, their best.
#include "experiments/sweeps/try_line.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "experiments/sweeps/try_budget.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TryLineTest : public ::testing::Test {
 protected:
  TryLine line() const { return {folder_.path(), "night"}; }

  static std::int64_t begin(TryLine& line, const std::string& change, const std::string& base) {
    return line.begin({change, base, "valid.loss", 0.01, 5, 0}, "", {"options.rate"}).number;
  }

  TemporaryFolder folder_;
};

TEST_F(TryLineTest, TheSameQuestionIsOneTry) {
  TryLine one = line();
  EXPECT_EQ(begin(one, "a", "base"), 1);
  TryLine other = line();
  EXPECT_EQ(begin(other, "b", "base"), 2);
  EXPECT_EQ(begin(one, "a", "base"), 1);
  EXPECT_EQ(one.tries().size(), 2U) << "it has read what the other wrote";
}

TEST_F(TryLineTest, ConfirmationsSpendTheLevelUnlessTheyKeep) {
  TryLine one = line();
  for (const char* change : {"a", "b", "c", "d"}) begin(one, change, "base");
  const TryConfirmation first = one.confirm(1, 2, 5);
  EXPECT_DOUBLE_EQ(first.level, 0.025);
  EXPECT_THAT(first.seeds, ElementsAre(6, 7));
  const TryConfirmation again = one.confirm(1, 2, 50);
  EXPECT_EQ(again.seeds, first.seeds) << "decided once";
  const TryConfirmation second = one.confirm(2, 2, 5);
  EXPECT_DOUBLE_EQ(second.level, 0.05 / 6) << "the first is not kept yet";
  EXPECT_THAT(second.seeds, ElementsAre(8, 9));
  one.end(1, {{"verdict", "keep"}});
  EXPECT_DOUBLE_EQ(one.confirm(3, 2, 5).level, 0.05 / 6) << "the second alone has spent";
  one.end(2, {{"verdict", "undecided"}});
  EXPECT_DOUBLE_EQ(one.confirm(4, 2, 5).level, 0.05 / 12);
}

TEST_F(TryLineTest, ABaseThatFailedIsNoBest) {
  TryLine one = line();
  begin(one, "a", "failing");
  EXPECT_EQ(one.best(), "failing") << "until a try has come to its end";
  begin(one, "a", "base");
  one.end(2, {{"verdict", "keep"}});
  EXPECT_EQ(one.first_base(), "base");
  EXPECT_EQ(one.best(), "a");
}

TEST_F(TryLineTest, RunsThatSeveralTriesShareCostOnce) {
  const auto make = [&](const std::string& id) {
    create_folders(folder_.path() / id);
    write_file(folder_.path() / id / "config.yaml", "seed: 1\n");
    double now = 100;
    Journal journal(RunPaths{folder_.path() / id}.journal(), [&] { return now; });
    journal.append("state", {{"state", "running"}});
    now += 10;
    journal.append("state", {{"state", "done"}});
  };
  for (const char* id : {"base", "a", "b"}) make(id);
  TryLine one = line();
  for (const char* change : {"a", "b"}) begin(one, change, "base");
  one.note_runs(1, {"base", "a"});
  one.note_runs(2, {"base", "b"});
  one.note_runs(2, {"b"});
  EXPECT_EQ(one.cost().runs, 3) << "though neither try is at its end";
  EXPECT_DOUBLE_EQ(one.cost().seconds, 30);
  EXPECT_EQ(line().tries()[1].runs.size(), 2U);
}

TEST_F(TryLineTest, ABestMovesOnlyFromTheBestOfItsTime) {
  TryLine one = line();
  EXPECT_EQ(one.best(), "");
  for (const char* change : {"a", "b"}) begin(one, change, "base");
  EXPECT_EQ(one.best(), "base");
  EXPECT_TRUE(one.end(1, {{"verdict", "keep"}}).moved_best);
  EXPECT_FALSE(one.end(2, {{"verdict", "keep"}}).moved_best)
      << "it was tried against the base, which is the best no more";
  EXPECT_EQ(one.best(), "a");
  EXPECT_EQ(one.end(1, {{"verdict", "broken"}}).outcome["verdict"], "keep") << "the first outcome counts";
}

TEST_F(TryLineTest, WhileItsTestIsMeasuredALineStays) {
  TryLine one = line();
  for (const char* change : {"a", "b"}) begin(one, change, "base");
  TryLine other = line();
  other.begin_closing();
  EXPECT_FALSE(one.end(1, {{"verdict", "keep"}}).moved_best) << "its test is that of base";
  EXPECT_EQ(one.best(), "base");
  EXPECT_TRUE(one.closing().is_null());
  EXPECT_THAT(thrown_message<UsageError>([&] { begin(one, "c", "base"); }), HasSubstr("is closed"));
  EXPECT_EQ(begin(one, "b", "base"), 2) << "a try that is there may end";
  other.close({{"gain", 1}});
  other.close({{"gain", 2}});
  EXPECT_EQ(line().closing()["gain"], 1);
}

TEST_F(TryLineTest, ALineThatAKillCutOffIsNoRecord) {
  TryLine one = line();
  begin(one, "a", "base");
  std::ofstream(one.folder() / "journal.jsonl", std::ios::app) << R"({"type":"outcome","try":1,"outc)";
  TryLine other = line();
  EXPECT_TRUE(other.tries().front().outcome.is_null());
  other.end(1, {{"verdict", "discard"}});
  EXPECT_EQ(line().tries().front().outcome["verdict"], "discard");
}

TEST_F(TryLineTest, NamesAreThoseOfFolders) {
  for (const std::string name : {"../x", "two words", ".hidden", ""}) {
    EXPECT_THAT(thrown_message<UsageError>([&] { TryLine(folder_.path(), name); }), HasSubstr("no name of a line"));
  }
  TryLine single(folder_.path(), std::string(kSingleTry) + "1");
  begin(single, "a", "base");
  TryLine one = line();
  begin(one, "a", "base");
  EXPECT_THAT(line_names(folder_.path()), ElementsAre("night"));
}

TEST(TryBudget, IsATimeOrANumber) {
  EXPECT_TRUE(TryBudget("20min", "--spend").is_spent({.seconds = 1'200}));
  EXPECT_FALSE(TryBudget("20min", "--spend").is_spent({.runs = 1'000, .seconds = 1'199}));
  EXPECT_TRUE(TryBudget("8runs", "--spend").has_room_for(2, {.runs = 6}));
  EXPECT_FALSE(TryBudget("8runs", "--spend").has_room_for(2, {.runs = 7}));
  EXPECT_TRUE(TryBudget("1e15flops", "--spend").is_spent({.flops = 1e15}));
  EXPECT_TRUE(TryBudget("5e6tokens", "--spend").is_spent({.tokens = 5e6}));
  EXPECT_FALSE(TryBudget().is_spent({.runs = 9, .seconds = 1e9}));
  for (const char* wrong : {"20", "-1runs", "2Mtokens", "many"}) {
    EXPECT_THAT(thrown_message<UsageError>([&] { TryBudget(wrong, "--spend"); }), HasSubstr("--spend")) << wrong;
  }
}

}  // namespace
}  // namespace xlm
