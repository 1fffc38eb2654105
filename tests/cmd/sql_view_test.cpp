// Results of SQL on a terminal.
#include "cmd/sql_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

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

TEST(SqlTexts, ShowQuantitiesAsListsDo) {
  SqlResult result;
  result.columns = {"params", "peak_memory", "test_word_perplexity", "mean"};
  result.rows = {{71596.0, 154706000.0, 123456.7, 0.00002}};
  EXPECT_THAT(sql_text(result, "table", {}), HasSubstr(" 71.6k       155 MB               123,457  0.00002\n"));
  EXPECT_THAT(sql_text(result, "csv", {}), HasSubstr("\n71596.0,154706000.0,123456.7,2e-05\n"));
}

TEST(SqlTexts, ShowTimesAndOtherNumbersInFull) {
  SqlResult result;
  result.columns = {"time", "journal_time", "sum", "training_flops"};
  result.rows = {{1795712345.25, 1795712346.5, 3456789.0, 3456789.0}};
  EXPECT_THAT(sql_text(result, "table", {}), HasSubstr("1795712345.25  1795712346.5  3456789           3.46M\n"));
}

}  // namespace
}  // namespace xlm
