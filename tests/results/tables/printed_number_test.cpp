#include "results/tables/printed_number.h"

#include <cmath>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(PrintedNumber, ReadsWhatPapersPrint) {
  const auto expect = [](const char* text, NumberFormat format, double value, double rounding) {
    const std::optional<PrintedNumber> read = printed_number(text, format);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_NEAR(read->value, value, 1e-9 * std::abs(value)) << text;
    EXPECT_NEAR(read->rounding, rounding, 1e-9 * rounding) << text;
  };
  expect("1.136*", NumberFormat::kNumber, 1.136, 0.0005);
  expect("314", NumberFormat::kNumber, 314, 0.5);
  expect("0.980", NumberFormat::kNumber, 0.98, 0.0005);
  expect("38M", NumberFormat::kCount, 38e6, 0.5e6);
  expect("22.5 GB", NumberFormat::kBytes, 22.5e9, 0.05e9);
  expect("22.5 GB", NumberFormat::kNumber, 22.5e9, 0.05e9);
  expect("512 B", NumberFormat::kBytes, 512, 0.5);
  expect("1.5B", NumberFormat::kCount, 1.5e9, 0.05e9);
  expect("175B", NumberFormat::kNumber, 175e9, 0.5e9);
  expect("93.1 %", NumberFormat::kPercent, 0.931, 0.0005);
  EXPECT_FALSE(printed_number("–", NumberFormat::kNumber).has_value());
  EXPECT_FALSE(printed_number("", NumberFormat::kNumber).has_value());
  EXPECT_FALSE(printed_number("M", NumberFormat::kCount).has_value());
  EXPECT_FALSE(printed_number("B", NumberFormat::kCount).has_value());
}

TEST(PrintedNumber, APercentSignIsAHundredth) {
  const PrintedNumber share = *printed_number("62 %", NumberFormat::kNumber);
  EXPECT_DOUBLE_EQ(share.value, 0.62);
  EXPECT_DOUBLE_EQ(share.rounding, 0.005);
  const PrintedNumber spread = *printed_number("62.0 ± 0.5 %", NumberFormat::kNumber);
  EXPECT_DOUBLE_EQ(spread.value, 0.62);
  EXPECT_DOUBLE_EQ(*spread.deviation, 0.005);
}

TEST(PrintedNumber, ReadsAStandardDeviation) {
  const std::optional<PrintedNumber> read = printed_number("1.136 ± 0.004", NumberFormat::kNumber);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->value, 1.136);
  EXPECT_EQ(read->rounding, 0.0005);
  EXPECT_EQ(read->deviation, 0.004);
  EXPECT_NEAR(*printed_number("93.1 ± 0.4", NumberFormat::kPercent)->deviation, 0.004, 1e-12);
  EXPECT_FALSE(printed_number("1.136", NumberFormat::kNumber)->deviation.has_value());
  for (const char* text : {"1.136 ±", "± 0.004", "1 ± 2 ± 3", "1.136 ± -0.004"}) {
    EXPECT_FALSE(printed_number(text, NumberFormat::kNumber).has_value()) << text;
  }
}

TEST(PrintedNumber, KnowsStarsAndWhatPrintsNothing) {
  EXPECT_TRUE(has_printed_star("1.136*"));
  EXPECT_FALSE(has_printed_star("1.136"));
  for (const char* text : {"", "–", "—", " - "}) EXPECT_TRUE(prints_nothing(text)) << text;
  for (const char* text : {"0", "-1", "about 3"}) EXPECT_FALSE(prints_nothing(text)) << text;
}

}  // namespace
}  // namespace xlm
