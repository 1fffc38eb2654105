// examples/leaderboard: numbers of others, imported and judged. The expected intervals are those of SciPy 1.17:
// ttest_ind(equal_var=False) of seconds, ttest_1samp of losses.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/results_commands_fixture.h"

namespace xlm {
namespace {

class Leaderboard : public ResultsCommands {
 protected:
  Leaderboard() {
    const ProgramResult imported = xlm("runs import csv '" + folder_ +
                                       "/runs.csv' --run run --settings record,date,side --seed seed "
                                       "--name records --split 'valid=val_*'");
    EXPECT_EQ(imported.code, 0) << imported.err;
  }

  /// The verdicts of a claim's parts, counted.
  std::map<std::string, int> verdicts(const std::string& name) const {
    std::map<std::string, int> counts;
    const Json judged = json("claims '" + folder_ + "/judge.yaml' --name " + name);
    for (const Json& part : judged[0]["parts"]) ++counts[part["verdict"]];
    return counts;
  }

  std::string folder_ = XLM_SOURCE_DIR "/examples/leaderboard";
};

TEST_F(Leaderboard, IsJudgedAsByScipy) {
  const std::string judged = xlm("claims '" + folder_ + "/judge.yaml'").out;
  for (const char* line : {"TransposeCopyBackward: after − before: -0.441, 95 % interval -0.648 to -0.234",
                           "BigramsSignTrick: after − before: -0.965, 95 % interval -1.028 to -0.902",
                           "ImprovedLMHead: after − before: -3.09, 95 % interval -3.22 to -2.96",
                           "MuddFormer: valid loss: 3.27805, 95 % interval 3.27741 to 3.27869",
                           "ImprovedLMHead: valid loss: 3.2784, 95 % interval 3.2764 to 3.2804, p = 0.077"})
    EXPECT_THAT(judged, ::testing::HasSubstr(line));
}

TEST_F(Leaderboard, HasTheVerdictsOfItsPage) {
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(verdicts("faster"), (Counts{{"confirmed", 15}}));
  EXPECT_EQ(verdicts("target"), (Counts{{"confirmed", 14}, {"undecided", 1}}));
  EXPECT_EQ(verdicts("as-good"), (Counts{{"confirmed", 4}, {"undecided", 11}}));
}

}  // namespace
}  // namespace xlm
