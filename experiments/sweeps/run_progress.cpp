// Reads a run's progress from the end of its journal.
#include "experiments/sweeps/run_progress.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/lookup.h"
#include "results/run_folder/remark.h"

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

/// The time of a record, unless a person or a command wrote it, perhaps long after the run; 0 for none.
double time_of_work(std::string_view line) {
  constexpr std::array<std::string_view, 5> kOfOthers{kRemark, "better", "choice", "experiment", "wanted"};
  const std::optional<Json> record = parse_json_if_any(line);
  if (!record || !record->is_object()) return 0;
  const std::string type = record->value("type", "");
  const bool is_of_others = contains(kOfOthers, type);
  return is_of_others ? 0 : number_at(*record, "time");
}

/// The record of an evaluation of the validation split with the run's own settings; null for another line.
Json validation_on(std::string_view line) {
  if (line.find("\"valid\"") == std::string_view::npos) return nullptr;
  std::optional<Json> record = record_of(line, "evaluation");
  if (!record || record->value("split", Json()) != "valid") return nullptr;
  const Json settings = record->value("settings", Json::object());
  return settings.is_object() && settings.empty() ? std::move(*record) : Json();
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
  std::string_view oldest;  // the first metric since the worker began
  double began = 0;
  bool ended = false;
  while ((began == 0 || progress.validation.is_null()) && take_last_line(text, line)) {
    if (progress.validation.is_null()) progress.validation = validation_on(line);
    const bool is_newest = began == 0;  // of what the newest worker wrote
    if (is_newest && progress.last_time == 0) progress.last_time = time_of_work(line);
    if (line.find("\"metric\"") != std::string_view::npos) {
      if (!is_newest) continue;
      if (!progress.metric.is_null()) {
        oldest = line;
      } else if (std::optional<Json> record = record_of(line, "metric")) {
        progress.metric = std::move(*record);
      }
    } else if (const std::optional<Json> state = record_of(line, "state")) {
      const std::string name = state->value("state", "");
      if (name == "running" && is_newest) began = std::max(number_at(*state, "time"), 1.0);
      ended = ended || (name != "running" && is_newest && progress.metric.is_null());
      if (name == "running" && state->value("fresh", false)) break;  // what is before it does not count
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
