// Results of SQL on a terminal.
#include "cmd/sql_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SqlTexts, KeepTheEndsOfRunIdsOnANarrowTerminal) {
  SqlResult result;
  result.columns = {"run_id", "experiment", "test_bpc"};
  result.rows = {{"adaptive-span-text8-37b6b69499972054", "the-spans-of-all", 1.5},
                 {"adaptive-span-text8-3ade5acdc32c6b2c", "the-spans-of-all", 1.25}};
  Terminal terminal;
  EXPECT_THAT(sql_text(result, "table", terminal), HasSubstr("adaptive-span-text8-37b6b69499972054"));
  terminal.is_terminal = true;
  EXPECT_THAT(sql_text(result, "table", terminal), HasSubstr("adaptive-span-text8-37b6b69499972054"));
  terminal.width = 50;
  EXPECT_THAT(sql_text(result, "table", terminal), HasSubstr("\n…37b6b694  the-spans-of-all    1.5000\n"));
  EXPECT_THAT(sql_text(result, "csv", terminal), HasSubstr("\nadaptive-span-text8-37b6b69499972054,"));
}

TEST(SqlTexts, ShowTimesCountsAndRatesAsNumbers) {
  SqlResult result;
  result.columns = {"created", "params", "peak_memory", "tokens_per_second", "steps", "seconds"};
  result.rows = {{1764177129.1234, 71596.0, 154706000.0, 12345.678, 1e16, 1234.5}};
  EXPECT_THAT(sql_text(result, "table", {}),
              AllOf(HasSubstr("1764177129.12"), HasSubstr("  71596  "), HasSubstr("  154706000  "),
                    HasSubstr("  12345.68  "), HasSubstr("  1e+16  ")));
}

TEST(SqlTexts, ShowQuantitiesAsListsDo) {
  SqlResult result;
  result.columns = {"test_bpc", "test_word_perplexity", "mean"};
  result.rows = {{1.25, 123456.7, 0.00002}};
  EXPECT_THAT(sql_text(result, "table", {}), HasSubstr("  1.2500               123,457  0.00002\n"));
  EXPECT_THAT(sql_text(result, "csv", {}), HasSubstr("\n1.25,123456.7,2e-05\n"));
}

}  // namespace
}  // namespace xlm
