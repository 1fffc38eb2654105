// JSON parsing that reports its source.
#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/pointer_file.h"

namespace xlm {

namespace {

bool is_nested_too_deep(std::string_view json) {
  constexpr int kDeepest = 100;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;  // the next character is not a quotation mark
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

template <class Any>
Any parsed(std::string_view text, const std::string& source) {
  check_json_depth(text, source);
  try {
    return Any::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    refuse_pointer(text, source);
    throw DataError(error.byte > text.size() ? fmt::format("{} is not valid JSON: it ends too early", source)
                                             : fmt::format("{} is not valid JSON: it goes wrong at byte {} of {}",
                                                           source, error.byte, text.size()));
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{} is not valid JSON: {}", source, reason_of(error)));
  }
}

}  // namespace

void check_json_depth(std::string_view json, const std::string& source) {
  if (is_nested_too_deep(json)) {
    throw DataError(fmt::format("{} is malformed: its lists and maps are nested too deeply", source));
  }
}

std::optional<Json> parse_json_if_any(std::string_view text) {
  if (is_nested_too_deep(text)) return std::nullopt;
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? std::nullopt : std::optional(std::move(json));
}

Json parse_json(std::string_view text, const std::string& source) { return parsed<Json>(text, source); }

SortedJson parse_sorted_json(std::string_view text, const std::string& source) {
  return parsed<SortedJson>(text, source);
}

std::string reason_of(const nlohmann::json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t end = what.front() == '[' ? what.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

Json read_json_object(const fs::path& path) {
  Json value = read_json(path);
  if (!value.is_object())
    throw DataError(fmt::format("{} is not a JSON object, but {}", path.string(), value.type_name()));
  return value;
}

std::string text_member(const Json& map, const char* key) {
  const auto found = map.find(key);
  return found != map.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string json_number(double value) { return Json(value).dump(); }

Json iso_time(const std::optional<double>& seconds) {
  if (!seconds || !std::isfinite(*seconds) || std::abs(*seconds) > 1e11) return nullptr;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(*seconds)));
}

Json exact_time(const std::optional<double>& seconds) {
  if (iso_time(seconds).is_null()) return nullptr;
  const double whole = std::floor(*seconds);
  const auto micro = std::min<long long>(std::llround((*seconds - whole) * 1e6), 999'999);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(static_cast<std::time_t>(whole)), micro);
}

}  // namespace xlm
