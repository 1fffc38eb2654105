// Reads a run's progress from the end of its journal.
#include "experiments/sweeps/run_progress.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace xlm {
namespace {

constexpr std::size_t kTailBytes = 1 << 16;

/// The record of a line. Returns nullopt if it has another type.
std::optional<Json> record_of(std::string_view line, std::string_view type) {
  if (line.find(type) == std::string_view::npos) return std::nullopt;
  std::optional<Json> record = parse_json_if_any(line);
  if (!record || !record->is_object() || record->value("type", "") != type) return std::nullopt;
  return record;
}

/// Takes the last whole line off a text. Returns false if there is none.
bool take_last_line(std::string_view& text, std::string_view& line) {
  const std::size_t end = text.find_last_of('\n');
  if (end == std::string_view::npos) return false;
  const std::size_t begin = text.substr(0, end).find_last_of('\n') + 1;  // npos + 1 is 0
  line = text.substr(begin, end - begin);
  text = text.substr(0, begin);
  return true;
}

}  // namespace

double number_at(const Json& record, const char* key) {
  return record.is_object() && record.contains(key) && record[key].is_number() ? record[key].get<double>() : 0;
}

RunProgress read_progress(const fs::path& journal) {
  RunProgress progress;
  if (!fs::is_regular_file(journal)) return progress;
  const MappedFile file(journal);
  std::string_view text = file.text();
  if (text.size() > kTailBytes) text.remove_prefix(text.size() - kTailBytes);
  std::string_view line;
  std::string_view oldest;  // of the metric lines since the worker began
  double began = 0;
  bool ended = false;
  while (began == 0 && take_last_line(text, line)) {
    if (progress.last_time == 0) {
      if (const std::optional<Json> record = parse_json_if_any(line)) progress.last_time = number_at(*record, "time");
    }
    if (line.find("\"metric\"") != std::string_view::npos) {
      if (!progress.metric.is_null()) {
        oldest = line;
      } else if (std::optional<Json> record = record_of(line, "metric")) {
        progress.metric = std::move(*record);
      }
    } else if (const std::optional<Json> state = record_of(line, "state")) {
      const std::string name = state->value("state", "");
      if (name == "running") began = std::max(number_at(*state, "time"), 1.0);
      ended = ended || (name != "running" && progress.metric.is_null());
    }
  }
  const Json first = record_of(oldest, "metric").value_or(Json());
  const double steps = number_at(progress.metric, "step") - number_at(first, "step");
  const double seconds = number_at(progress.metric, "time") - number_at(first, "time");
  if (first.is_null() || steps <= 0 || seconds <= 0) return progress;
  progress.pace = seconds / steps;
  if (ended && began > 0) progress.overhead = std::max(progress.last_time - began - seconds, 0.0);
  return progress;
}

}  // namespace xlm
