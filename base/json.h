// JSON: one alias, and parsing that reports its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace xlm {

/// Keys keep the order in which they were added, so that what people read keeps ours.
using Json = nlohmann::ordered_json;

/// Throws DataError naming `source` and the position.
Json parse_json(std::string_view text, const std::string& source);

/// Throws DataError when the file is missing or is not JSON.
Json read_json(const fs::path& path);

/// One number as JSON writes it: the shortest text that reads back the same; null for NaN and infinities.
std::string json_number(double value);

/// "2025-11-21T09:30:00Z"; null for nothing.
Json iso_time(const std::optional<double>& seconds);

}  // namespace xlm
