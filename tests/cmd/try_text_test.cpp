// What is said of tries.
#include "cmd/try_text.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

const Json& kept_outcome() {
  static const Json outcome = {{"verdict", "keep"},
                               {"line", "night"},
                               {"try", 3},
                               {"value", "valid.loss"},
                               {"gain", 0.0214},
                               {"low", 0.0101},
                               {"high", 0.0327},
                               {"p", 0.003},
                               {"level", 0.025},
                               {"pairs", 5},
                               {"screened", 5},
                               {"min_gain", 0.01},
                               {"equal", "equal steps (400), 1.3 × the time"},
                               {"differ_in", {"options.rate"}},
                               {"cost", {{"runs", 20}, {"seconds", 75.0}, {"flops", 0.0}, {"tokens", 0.0}}}};
  return outcome;
}

TEST(TryText, IsOneLine) {
  EXPECT_EQ(
      outcome_text(kept_outcome()),
      "keep: valid.loss gain +0.0214, 95 % interval 0.0101 to 0.0327, p = 0.003, 5 fresh pairs; equal steps (400), "
      "1.3 × the time; 20 new runs, 1 min 15 s\n");
}

TEST(TryText, JsonHasAtMostAThousandBytes) {
  Json outcome = kept_outcome();
  outcome["reason"] = std::string(2'000, 'x') + "é";
  outcome["differ_in"] = std::vector<std::string>(40, "options.a_long_name_of_an_option");
  outcome["folder"] = "runs";
  const std::string text = outcome_json(outcome);
  EXPECT_LE(text.size(), 1'000U);
  EXPECT_EQ(Json::parse(text)["gain"], 0.0214);
}

TEST(TryText, VerdictsHaveExitCodes) {
  EXPECT_EQ(code_of_outcome({{"verdict", "keep"}}), 0);
  EXPECT_EQ(code_of_outcome({{"verdict", "discard"}}), 10);
  EXPECT_EQ(code_of_outcome({{"verdict", "undecided"}}), 11);
  EXPECT_EQ(code_of_outcome({{"verdict", "broken"}}), 12);
  EXPECT_EQ(code_of_outcome(Json::object()), 1);
}

}  // namespace
}  // namespace xlm
