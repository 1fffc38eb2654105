// The table of quantities: what follows from a row, unknown names, and its copy in docs/numbers.md.
#include "results/quantities/quantities.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "results/quantities/grids.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Quantities, HaveNamesAndHeadlineRanksOnce) {
  std::set<std::string> names;
  std::set<int> ranks;
  for (const Quantity& row : quantities()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.label.empty() || row.head.empty() || row.meaning.empty()) << row.name;
    EXPECT_EQ(row.live.empty(), row.live_head.empty()) << row.name;
    if (row.headline > 0) {
      EXPECT_TRUE(ranks.insert(row.headline).second) << row.name;
    }
  }
  for (const Quantity& row : quantities()) EXPECT_TRUE(row.live_most.empty() || names.contains(row.live_most));
}

TEST(Quantities, ThatAreNotInTheTableAreShown) {
  EXPECT_EQ(find_quantity("gate_entropy"), nullptr);
  const Quantity unknown = quantity("gate_entropy");
  EXPECT_EQ(unknown.label, "gate entropy");
  EXPECT_EQ(unknown.better, Better::kLower);
  EXPECT_EQ(list_number(unknown, 1.23456), "1.2346");
  EXPECT_EQ(named_number(unknown, 1.23456), "gate entropy 1.235");
  EXPECT_EQ(column_label("valid.gate_entropy"), "valid gate entropy");
}

TEST(Quantities, StandBehindOrBeforeTheirNumbers) {
  EXPECT_EQ(named_number(quantity("bpc"), 1.5), "1.500 bpc");
  EXPECT_EQ(named_number(quantity("loss"), 1.5), "loss 1.500");
  EXPECT_EQ(named_number(quantity("params"), 38.1e6), "parameters 38.1M");
  EXPECT_EQ(list_number(quantity("word_perplexity"), 31.20567), "31.2057");
  EXPECT_EQ(list_number(quantity("flops_per_token"), 1.2e8), "120M");
}

TEST(Quantities, AreReadableInLists) {
  EXPECT_EQ(list_number(quantity("tokens"), 12010), "12,010");
  EXPECT_EQ(list_number(quantity("word_perplexity"), 12010.3), "12,010");
  EXPECT_EQ(list_number(quantity("word_perplexity"), 5791.6193), "5,792") << "as its neighbours above";
  EXPECT_EQ(list_number(quantity("word_perplexity"), 123456.7), "123,457");
  EXPECT_EQ(named_number(quantity("word_perplexity"), 13119.25), "word perplexity 13,119");
  EXPECT_EQ(list_number(quantity("word_perplexity"), 2.4e9), "2.40G");
  EXPECT_EQ(list_number(quantity("average_span"), 38.25), "38.25");
  EXPECT_EQ(column_number("test.bpc", 2.04), "2.0400");
  EXPECT_EQ(column_number("params@model.span=64", 343210), "343k");
  EXPECT_EQ(column_number("model.span", 8192), "8192") << "sizes are read without a comma";
}

TEST(ShownNumbers, AreNeverPowersOfTen) {
  EXPECT_EQ(shown_number(12010), "12,010");
  EXPECT_EQ(shown_number(-12010.4), "-12,010");
  EXPECT_EQ(shown_number(343210), "343k");
  EXPECT_EQ(shown_number(1024), "1024");
  EXPECT_EQ(shown_number(2.04831), "2.0483");
  EXPECT_EQ(shown_number(5791.6193), "5,792");
  EXPECT_EQ(shown_number(0.0000123456), "0.000012346");
  EXPECT_EQ(with_digits(0.00002, 2), "0.00002");
  EXPECT_EQ(with_digits(13119.4, 3), "13,119");
  EXPECT_EQ(with_digits(0.025, 3), "0.025");
  EXPECT_EQ(with_digits(-3.64, 2), "-3.6");
  EXPECT_EQ(with_digits(0, 3), "0");
  EXPECT_EQ(difference_with_digits(0.1014, 3), "+0.101");
  EXPECT_EQ(difference_with_digits(-154706000, 3), "-154,706,000");
  EXPECT_EQ(in_thousands(-123456), "-123,456");
  EXPECT_EQ(in_thousands(1500), "1,500");
}

TEST(Quantities, LabelColumnsOfTheStore) {
  EXPECT_EQ(column_label("test.bpc"), "test bpc");
  EXPECT_EQ(column_label("flops_per_token"), "FLOPs per token");
  EXPECT_EQ(column_label("peak_memory"), "peak memory, bytes");
  EXPECT_EQ(column_label("model.boundaries.type"), "boundaries type");
  EXPECT_EQ(column_label("data.name"), "data");
  EXPECT_EQ(column_label("train.steps"), "train steps") << "a key of the configuration, not a split";
  EXPECT_EQ(quantity_of_column("test.bpc")->name, "bpc");
  EXPECT_EQ(quantity_of_column("params")->name, "params");
  EXPECT_EQ(quantity_of_column("model.span"), nullptr);
  EXPECT_EQ(evaluation_column("test."), std::nullopt);
  EXPECT_EQ(evaluation_column("tested.bpc"), std::nullopt);
}

TEST(Quantities, OfTheSmallestRankRepresentARun) {
  const auto of = [](const std::set<std::string>& names) {
    const Quantity* found = headline_of([&](const std::string& name) { return names.contains(name); });
    return found == nullptr ? "" : found->name;
  };
  EXPECT_EQ(of({"loss", "bpc", "tokens"}), "bpc");
  EXPECT_EQ(of({"loss", "token_perplexity", "word_perplexity", "bits_per_byte"}), "word_perplexity");
  EXPECT_EQ(of({"loss", "token_perplexity"}), "token_perplexity");
  EXPECT_EQ(of({"loss", "average_span"}), "loss");
  EXPECT_EQ(of({"seconds"}), "");
}

TEST(Quantities, ThatLeadComeFirstInLists) {
  EXPECT_THAT(listing_order({"average_span", "bpc", "loss", "tokens", "zeta"}),
              ElementsAre("tokens", "loss", "bpc", "average_span", "zeta"));
  EXPECT_THAT(listing_order({}), ElementsAre());
}

/// The table as docs/numbers.md has it.
std::string documented_table() {
  std::string out = "| name | what it is | label | of | texts of | better | digits |\n";
  out += "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Quantity& row : quantities()) {
    constexpr std::array<std::string_view, 3> kBy{"evaluation", "run", "training"};
    std::vector<std::string> texts;
    if ((row.texts & TextUnits::kCharacters) != 0) texts.emplace_back("characters");
    if ((row.texts & TextUnits::kBytes) != 0) texts.emplace_back("bytes");
    if ((row.texts & TextUnits::kBytePairs) != 0) texts.emplace_back("byte pairs");
    const std::string digits = row.digits < 0 ? std::string(kNumberFormatNames.at(static_cast<std::size_t>(row.format)))
                                              : std::to_string(row.digits);
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.name, row.meaning, row.label,
                       kBy.at(static_cast<std::size_t>(row.by)), row.texts == TextUnits::kAny ? "" : join(texts, ", "),
                       kBetterNames.at(static_cast<std::size_t>(row.better)), digits);
  }
  return out;
}

TEST(Quantities, AreThoseOfTheDocs) {
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "numbers.md");
  EXPECT_THAT(page, HasSubstr("\n" + documented_table() + "\n")) << "the table belongs below ### Quantities";
}

TEST(GridWords, OfAnUnknownGridAreItsName) {
  const GridWords known = grid_words("spans");
  EXPECT_EQ(known.row + "|" + known.column + "|" + known.value, "layer|head|span");
  EXPECT_TRUE(is_known_grid("spans"));
  const GridWords unknown = grid_words("gate_share");
  EXPECT_EQ(unknown.title + "|" + unknown.row + "|" + unknown.column + "|" + unknown.value,
            "Grid: gate share|row|column|gate share");
  EXPECT_FALSE(is_known_grid("gate_share"));
}

}  // namespace
}  // namespace xlm
