// Numbers as a line of small bars, for terminals.
#pragma once

#include <string>
#include <vector>

namespace xlm {

/// "█▆▄▂▁": a bar for each number, from the least to the greatest of them. Of more than `most`, bars are means of
/// neighbours. A number that is not finite is a blank; if all are equal, bars are of half height. Empty for fewer than
/// two numbers, or if none is finite.
std::string sparkline(const std::vector<double>& values, std::size_t most);

}  // namespace xlm
