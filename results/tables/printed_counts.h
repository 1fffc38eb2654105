// How many of the values that a paper prints ours agree with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "results/tables/table.h"

namespace xlm {

/// What becomes of a printed value: a verdict, or why there is none.
inline constexpr std::array<std::string_view, 7> kPrintedOutcomes{
    "agrees",    "consistent", "differs", "undecided", "not comparable",
    "missing",      // no number of ours yet
    "no verdict"};  // the printed text is no number, or ours is no mean

/// Printed values by outcome, in the order of kPrintedOutcomes.
struct PrintedCounts {
  std::array<std::int64_t, kPrintedOutcomes.size()> of{};

  std::int64_t total() const;
  PrintedCounts& operator+=(const PrintedCounts& other);
};

PrintedCounts count_printed(const Table& table);

}  // namespace xlm
