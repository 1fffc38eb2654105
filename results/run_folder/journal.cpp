// The journal of a run.
#include "results/run_folder/journal.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace xlm {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Journal::Journal(const fs::path& file, Clock clock, std::int64_t token)
    : file_(file), clock_(clock ? std::move(clock) : Clock(wall_seconds)), token_(token) {}

void Journal::append(const std::string& type, const Json& fields, bool durable) {
  Json record = {{"type", type}, {"time", clock_()}};
  if (token_ > 0) record["token"] = token_;
  for (const auto& [key, value] : fields.items()) record[key] = value;
  file_.append(record.dump(-1, ' ', false, Json::error_handler_t::replace), durable);
}

JournalContent read_journal(const fs::path& file) {
  const MappedFile mapped(file);
  std::string_view text = mapped.text();
  JournalContent content;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      content.torn = true;  // the line that a kill cut short
      break;
    }
    std::optional<Json> record = parse_json_if_any(text.substr(0, end));
    if (record && record->is_object() && record->contains("type") && record->at("type").is_string()) {
      content.records.push_back(std::move(*record));
    } else {
      ++content.malformed;
    }
    text.remove_prefix(end + 1);
  }
  return content;
}

std::int64_t highest_token(const fs::path& file) {
  if (!fs::exists(file)) return 0;
  std::int64_t highest = 0;
  for (const Json& record : read_journal(file).records) {
    const auto token = record.find("token");
    if (token != record.end() && token->is_number_integer()) highest = std::max(highest, token->get<std::int64_t>());
  }
  return highest;
}

}  // namespace xlm
