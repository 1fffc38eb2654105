// JSON: one alias, and parsing that reports its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace xlm {

/// Keys keep the order in which they were added, because people read the result.
using Json = nlohmann::ordered_json;
/// The same with sorted keys, for maps with very many keys: a Json compares a new key with all others.
using SortedJson = nlohmann::json;

/// Throws DataError with `source` and the position, also if lists and maps are nested more than 100 deep.
Json parse_json(std::string_view text, const std::string& source);
SortedJson parse_sorted_json(std::string_view text, const std::string& source);

/// The same for text of any kind: nullopt if it is not JSON, or nested too deeply.
std::optional<Json> parse_json_if_any(std::string_view text);

/// Throws DataError if lists and maps are nested more than 100 deep, for readers with their own parser. No valid file
/// of ours is that deep, and copying or printing such a value would overflow the stack.
void check_json_depth(std::string_view json, const std::string& source);

/// The library's reason without its error number: "type must be number, but is string".
std::string reason_of(const nlohmann::json::exception& error);

/// Throws DataError if the file is missing or is not JSON.
Json read_json(const fs::path& path);

/// The same for a file that must contain an object. Throws DataError if it contains anything else.
Json read_json_object(const fs::path& path);

/// The text that a map has under a key; "" if it has none, or anything but a text.
std::string text_member(const Json& map, const char* key);

/// A value as text of several lines with a final line end. Bytes that are not UTF-8 (file names may contain any) become
/// U+FFFD.
std::string json_text(const Json& value);

/// One number as JSON writes it: the shortest text that reads back the same; null for NaN and infinities.
std::string json_number(double value);

/// "2025-11-21T09:30:00Z"; null for nullopt.
Json iso_time(const std::optional<double>& seconds);

/// The same to a microsecond, always with six digits, as readers of a column expect: "2025-11-21T09:30:00.250000Z".
Json exact_time(const std::optional<double>& seconds);

}  // namespace xlm
