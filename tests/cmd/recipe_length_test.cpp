// The table of a profile that is smaller than the paper's names both lengths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/experiments/program.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RecipeLength : public ::testing::Test {
 protected:
  RecipeLength() { RunMaker(folder_.path() / "runs").make_sweep({"fixed"}, {64}, {1}); }

  /// The output of `xlm table` for the made run under a profile of a recipe.
  std::string table(const std::string& length, const std::string& profile,
                    const std::string& model = "{type: adaptive-span}") const {
    write_file(folder_.path() / "r.yaml",
               "experiment: spans\ndata: {path: nowhere}\nmodel: " + model + "\ntrain: {" + length +
                   "}\nprofiles:\n  smoke: {train: {epochs: 0, steps: 100}}\n  paper: {}\n"
                   "tables: [{table: T, rows: model.span_type, cells: {value: test.bpc}}]\n");
    const ProgramResult result =
        shell(folder_.path(), "'" XLM_BINARY "' table r.yaml" + (profile.empty() ? "" : " --profile " + profile));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  TemporaryFolder folder_;
};

TEST_F(RecipeLength, IsUnderTheTableOfSmallerRuns) {
  EXPECT_THAT(table("steps: 600000", "smoke"),
              HasSubstr("Training: 100 steps here; 600,000 steps (19.7G tokens) in the paper."));
  EXPECT_THAT(table("epochs: 2", "smoke"), HasSubstr("100 steps here; 2 epochs in the paper.")) << "without data";
}

// T = 300, O = 50, W = 20: a sequence scores 300 + 19·250 = 5,050 predictions, though its windows read 6,000 tokens.
TEST_F(RecipeLength, OfOverlappingWindowsCountsScoredTokens) {
  EXPECT_THAT(table("steps: 1000, batch: 4", "smoke", "{type: gpt2, window: 300, overlap: 50}"),
              HasSubstr("100 steps here; 1,000 steps (20.2M tokens) in the paper."));
}

TEST_F(RecipeLength, IsLeftOutIfThisProgramCannotMakeThePapersRuns) {
  const std::string shown = table("steps: 600000, stepz: 1", "smoke");
  EXPECT_THAT(shown, HasSubstr("fixed"));
  EXPECT_THAT(shown, Not(HasSubstr("Training:")));
}

TEST_F(RecipeLength, DependsOnTheRunsAndNotOnWhatTheProfileIsCalled) {
  for (const char* profile : {"", "paper"}) {
    EXPECT_THAT(table("steps: 600000", profile), HasSubstr("Training: 100 steps here; 600,000 steps")) << profile;
  }
}

}  // namespace
}  // namespace xlm
