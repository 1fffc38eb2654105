#include "results/tables/verdict.h"

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

Verdict verdict(const std::vector<double>& by_seed, const VerdictSettings& settings = {}) {
  return compare_with_print(by_seed, {.value = 1.10, .rounding = 0.005}, settings).verdict;
}

TEST(Verdict, AgreesWithinTheIntervalOfTheSeeds) {
  // Mean 1.12, deviation 0.01: Student's interval at 95 % with two degrees of freedom is ± 4.303 · 0.01 / √3 = 0.0248.
  const PrintedComparison compared = compare_with_print({1.11, 1.12, 1.13}, {.value = 1.10, .rounding = 0.005}, {});
  EXPECT_NEAR(compared.difference, 0.02, 1e-12);
  EXPECT_NEAR(*compared.half_width, 0.02484, 5e-6);
  EXPECT_EQ(compared.verdict, Verdict::kAgrees);
  EXPECT_EQ(verdict({1.129, 1.13, 1.131}), Verdict::kDiffers);
}

TEST(Verdict, RoundingOfThePrintedValueDoesNotCount) {
  EXPECT_EQ(verdict({1.1049, 1.1049}), Verdict::kAgrees);
  EXPECT_EQ(verdict({1.1051, 1.1051}), Verdict::kDiffers);
}

TEST(Verdict, OneSeedSaysNothingWithoutATolerance) {
  EXPECT_EQ(verdict({1.10}), Verdict::kTooFewSeeds);
  EXPECT_EQ(verdict({1.10}, {.tolerance = 0.01}), Verdict::kAgrees);
  EXPECT_EQ(verdict({1.12}, {.tolerance = 0.01}), Verdict::kDiffers);
}

TEST(Verdict, WhatFollowsFromTheConfigurationNeedsNoSeeds) {
  EXPECT_EQ(verdict({1.104}, {.exact = true}), Verdict::kAgrees);
  EXPECT_EQ(verdict({1.2}, {.exact = true}), Verdict::kDiffers);
  EXPECT_EQ(verdict({1.2}, {.exact = true, .paper_size = false}), Verdict::kSmallerRun)
      << "fewer layers are no finding";
}

TEST(Verdict, SmallerRunsGetNone) {
  EXPECT_EQ(verdict({1.10, 1.10}, {.paper_size = false}), Verdict::kSmallerRun);
  EXPECT_EQ(verdict({1.10}, {.tolerance = 1, .paper_size = false}), Verdict::kSmallerRun);
}

}  // namespace
}  // namespace xlm
