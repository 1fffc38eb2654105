// The journal of a run.
#include "results/run_folder/journal.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"
#include "base/json_parser.h"
#include "results/run_folder/remark.h"

namespace xlm {
namespace {

constexpr std::string_view kCheckKey = R"(,"crc":")";
constexpr std::size_t kCheckBytes = kCheckKey.size() + 8 + 2;  // the key, eight hexadecimal digits, "}

std::string check_of(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return fmt::format("{:08x}", ::crc32_z(0, data, bytes.size()));
}

double latest_time(const fs::path& file) {
  double latest = 0;
  read_journal(file, [&](const Json& record) {
    const auto time = record.find("time");
    if (time != record.end() && time->is_number()) latest = std::max(latest, time->get<double>());
  });
  return latest;
}

/// The record on a line. Returns nullopt if the line is no record or not as it was written. A line that was edited by
/// hand may lack the checksum.
std::optional<Json> record_on(std::string_view line, JsonParser& parser) {
  const std::size_t written = line.size() < kCheckBytes ? 0 : line.size() - kCheckBytes;
  const bool checked = line.substr(written).starts_with(kCheckKey);
  if (checked && line.substr(written + kCheckKey.size(), 8) != check_of(line.substr(0, written))) return std::nullopt;
  std::optional<Json> record = parser.parse(line);
  if (!record || !record->is_object()) return std::nullopt;
  const auto type = record->find("type");
  if (type == record->end() || !type->is_string()) return std::nullopt;
  const auto token = record->find("token");
  if (token != record->end() && token->is_number() && *token > kHighestToken) return std::nullopt;
  if (checked) record->erase("crc");
  return record;
}

}  // namespace

std::string journal_line(const Json& record) {
  std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.pop_back();  // }
  return fmt::format(R"({}{}{}"}})", line, kCheckKey, check_of(line));
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Journal::Journal(const fs::path& file, Clock clock, std::int64_t token)
    : path_(file), file_(file), clock_(clock ? std::move(clock) : Clock(wall_seconds)), token_(token) {}

void Journal::append(const std::string& type, const Json& fields, bool durable) {
  Json record = {{"type", type}, {"time", time_of(type)}};
  if (token_ > 0) record["token"] = token_;
  for (const auto& [key, value] : fields.items()) record[key] = value;
  const std::string line = journal_line(record);
  if (token_ == 0) return file_.append_shared(line, durable);
  file_.append(line);
  if (durable) sync();
}

/// Of evaluations, remarks and directions the later one counts, and clocks differ: none is older than what the journal
/// has. Other records tell how long something took.
double Journal::time_of(const std::string& type) {
  constexpr double kLater = 1e-6;
  const double now = clock_();
  if (type != "evaluation" && type != kRemark && type != "better") return now;
  if (token_ == 0 || !latest_) latest_ = std::max(latest_.value_or(0), latest_time(path_));
  latest_ = now >= *latest_ ? now : *latest_ + kLater;
  return *latest_;
}

void Journal::sync() {
  file_.sync();
  if (token_ == 0 || file_.is_at_its_name()) return;
  throw DataError(
      fmt::format("{} was removed or replaced during the run: its latest records are lost\n"
                  "run the same command again: the run resumes from its last checkpoint",
                  path_.string()));
}

JournalContent read_journal(const fs::path& file, const std::function<void(const Json& record)>& use) {
  const std::string content = read_file(file);
  std::string_view text = content;
  // A network file system returns zeros for bytes that exist but are not fetched yet.
  JournalContent found{.bytes = static_cast<std::int64_t>(std::min(content.find('\0'), content.size()))};
  JsonParser parser;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line that a kill cut off
    // A process that opens a journal ends another process's unfinished line. The writer then ends it a second time.
    if (end == 0) {
      text.remove_prefix(1);
      continue;
    }
    if (const std::optional<Json> record = record_on(text.substr(0, end), parser)) {
      use(*record);
    } else {
      ++found.malformed;
    }
    text.remove_prefix(end + 1);
  }
  return found;
}

JournalContent read_journal(const fs::path& file) {
  std::vector<Json> records;
  JournalContent found = read_journal(file, [&](const Json& record) { records.push_back(record); });
  found.records = std::move(records);
  return found;
}

std::int64_t highest_token(const fs::path& file) {
  if (!fs::exists(file)) return 0;
  std::int64_t highest = 0;
  read_journal(file, [&](const Json& record) {
    const auto token = record.find("token");
    if (token != record.end() && token->is_number_integer()) highest = std::max(highest, token->get<std::int64_t>());
  });
  return highest;
}

}  // namespace xlm
