// What a training step of the papers' sizes asks of a GPU may not grow: starts of kernels, waits, copies of memory that
// is not pinned, peak memory. budgets.json has the numbers; `make null-cuda REFRESH=1` writes it again.
#include <iostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/campaign_size.h"
#include "tests/null_cuda/budget.h"
#include "tests/null_cuda/null_cuda_fixture.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NullCudaBudgets : public NullCuda {
 protected:
  void SetUp() override {}  // rows make their own text

  /// The numbers of rows, all if there are none, on a GPU that has memory for each.
  Json numbers_of(const std::string& name, std::vector<std::string> rows, const std::string& settings,
                  const std::string& kernels = "") {
    std::vector<std::string> words{XLM_NULL_ROWS};
    if (!kernels.empty()) words.insert(words.begin(), {"/usr/bin/env", "XLM_KERNELS=" + kernels});
    words.insert(words.end(), rows.begin(), rows.end());
    const ProgramResult result = on_gpu(name, "memory=141e9;" + settings, std::move(words));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.code == 0 ? parse_json(result.out, "null_rows") : Json::object();
  }

  // libtorch may choose another size of a block of memory.
  const std::vector<Slack> slacks_{{"peak_bytes", 0.01}, {"tensor_bytes", 0.01}};
};

/// Of gpu-check (rows_for_a_gpu), besides those that a test measures.
const std::vector<std::string> kFurtherRows{"span-8192",        "span-8192-large",    "span-dynamic-1024",
                                            "pooling-none",     "pooling-fixed-2",    "pooling-whitespace",
                                            "pooling-gumbel",   "gpt2-recurrent",     "gpt2-recurrent-again",
                                            "transformer-gpt2", "transformer-default"};

TEST_F(NullCudaBudgets, NoRowAsksForMore) {
  const bool all = campaign_size(0, 1) == 1 || refreshes_budgets();
  std::vector<std::string> rows{"span-fixed-1024", "gpt2-plain"};
  if (all) rows.insert(rows.end(), kFurtherRows.begin(), kFurtherRows.end());
  // With the least and the most shared memory, which decides what kernels a GPU gets.
  const std::vector<int> capabilities = all ? std::vector<int>{86, 90} : std::vector<int>{90};
  Json measured = Json::object();
  for (const int capability : capabilities) {
    const std::string generation = fmt::format("{}.{}", capability / 10, capability % 10);
    for (const std::string& row : rows) {  // each in a separate process: recordings keep their memory
      const std::string name = fmt::format("{}-{}", row, capability);
      const Json numbers = numbers_of(name, {row}, fmt::format("capability={}", capability));
      ASSERT_EQ(numbers.size(), 1U) << name;
      measured[row + ", " + generation] = numbers.begin().value();
      EXPECT_THAT(report(name).violations, IsEmpty()) << name;
    }
  }
  std::cout << json_text(measured);
  if (refreshes_budgets()) {
    write_budgets("budgets", measured);
    GTEST_SKIP() << "budgets.json is written: " << budget_file("budgets");
  }
  EXPECT_THAT(worse_than_budgets(measured, read_budgets("budgets"), slacks_), IsEmpty());
}

// The test above fails if a step becomes worse: a program that starts each kernel twice, and one without its own
// kernels, which needs more memory.
TEST_F(NullCudaBudgets, AWorseStepIsFound) {
  const Json usual = numbers_of("usual", {"span-fixed-1024"}, "capability=90");
  EXPECT_THAT(worse_than_budgets(usual, usual, slacks_), IsEmpty());
  const Json twice = numbers_of("twice", {"span-fixed-1024"}, "capability=90;plant=launch");
  EXPECT_THAT(worse_than_budgets(twice, usual, slacks_), Contains(HasSubstr("launches is")));
  const Json composed = numbers_of("composed", {"span-fixed-1024"}, "capability=90", "banded-attention=libtorch");
  EXPECT_THAT(worse_than_budgets(composed, usual, slacks_), Contains(HasSubstr("tensor_bytes is")));
}

TEST(NullCudaBudget, NumbersAreComparedOneByOne) {
  const Json budgets = {{"row", {{"launches", 100}, {"peak_bytes", 1000}}}};
  const std::vector<Slack> slacks{{"peak_bytes", 0.01}};
  EXPECT_THAT(worse_than_budgets({{"row", {{"launches", 100}, {"peak_bytes", 1010}}}}, budgets, slacks), IsEmpty());
  EXPECT_THAT(worse_than_budgets({{"row", {{"launches", 101}, {"peak_bytes", 1011}}}}, budgets, slacks),
              ElementsAre("row: launches is 101, and the budget 100", "row: peak_bytes is 1011, and the budget 1000"));
  EXPECT_THAT(worse_than_budgets({{"other", {{"launches", 1}}}, {"row", {{"waits", 0}}}}, budgets),
              ElementsAre(HasSubstr("other: launches has no budget"), HasSubstr("row: waits has no budget")));
}

}  // namespace
}  // namespace xlm
