// JSON parsing that reports its source.
#include "base/json.h"

#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

Json parse_json(std::string_view text, const std::string& source) {
  // nlohmann::json parses without recursion, so that deep nesting costs memory only; files are bounded by read_file.
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw DataError(
        fmt::format("{} is not valid JSON: it goes wrong at byte {} of {}", source, error.byte, text.size()));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is not valid JSON: {}", source, error.what()));
  }
}

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

std::string json_number(double value) { return Json(value).dump(); }

Json iso_time(const std::optional<double>& seconds) {
  if (!seconds || !std::isfinite(*seconds) || std::abs(*seconds) > 1e11) return nullptr;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(*seconds)));
}

}  // namespace xlm
