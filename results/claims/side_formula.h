// Formulas over the sides of a claim: =1 - paper_flops[a]/paper_flops[b].
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// A column of one side, as it stands in a formula: "test.bpc" of 'a' for test.bpc[a].
struct SideColumn {
  std::string column;
  char letter = 0;  // 0: no side is named
};

/// The formula with each COLUMN[x] in braces, so that Formula takes it for one name.
std::string bound_to_sides(std::string_view formula);

/// What a name of a formula that `bound_to_sides` made stands for.
SideColumn side_column(std::string_view name);

/// The letters of the sides that a formula names, each once, in their order.
std::vector<char> letters_in(std::string_view formula);

/// The columns behind a claim's value, which may be a formula over sides; none behind an empty one.
std::vector<std::string> columns_of_value(const std::string& value);

}  // namespace xlm
