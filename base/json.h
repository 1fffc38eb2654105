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
/// The same with sorted keys, for maps that may have very many: a Json looks at every key before it adds another.
using SortedJson = nlohmann::json;

/// Throws DataError naming `source` and the position, also for lists and maps in each other more than 100 deep.
Json parse_json(std::string_view text, const std::string& source);
SortedJson parse_sorted_json(std::string_view text, const std::string& source);

/// The same where text may be anything: nothing for what is no JSON, or nested too deep.
std::optional<Json> parse_json_if_any(std::string_view text);

/// Throws DataError where lists and maps lie in each other more than 100 deep, for readers with a parser of their own.
/// Nothing that we read does so honestly, and copying or printing such a value would end the program: both go down by
/// calling themselves.
void check_json_depth(std::string_view json, const std::string& source);

/// What is wrong, in the words of the library without its number for it: "type must be number, but is string".
std::string reason_of(const nlohmann::json::exception& error);

/// Throws DataError when the file is missing or is not JSON.
Json read_json(const fs::path& path);

/// The same of a file that must hold an object. Throws DataError where it holds anything else.
Json read_json_object(const fs::path& path);

/// A value as text of several lines, the last of them ended. Bytes that are no UTF-8 (file names may hold any) become
/// U+FFFD.
std::string json_text(const Json& value);

/// One number as JSON writes it: the shortest text that reads back the same; null for NaN and infinities.
std::string json_number(double value);

/// "2025-11-21T09:30:00Z"; null for nothing.
Json iso_time(const std::optional<double>& seconds);

}  // namespace xlm
