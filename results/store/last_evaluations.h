// Means of the last evaluations of a training, which scatter less than the very last one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "results/store/store.h"

namespace xlm {

/// The number K of a column COLUMN@last=K; nothing for another column. Throws UsageError where K is no whole number
/// above zero, or other settings stand next to it.
std::optional<std::int64_t> last_of_column(const std::string& column);

/// Of each run with a final number of a metric (by its number in the store): the mean of its last `count` evaluations
/// that were measured on as much text as most of them. Runs with fewer have none.
std::map<std::int64_t, double> means_of_last(Store& store, const std::string& split, const std::string& metric,
                                             std::int64_t count);

}  // namespace xlm
