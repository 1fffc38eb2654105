// At what the sides of a try are equal.
#pragma once

#include <set>
#include <string>

#include "base/files.h"

namespace xlm {

/// "equal steps (400), 1.3 × the time, 1.1 × the parameters" of the change, by the means of runs that are done. Empty
/// if one of both has none.
std::string equality_in_words(const std::set<fs::path>& change, const std::set<fs::path>& base);

}  // namespace xlm
