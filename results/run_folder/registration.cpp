// The chain of registered claims.
#include "results/run_folder/registration.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

std::string text_of_record(const Json& record) { return record.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Each line as it is.
std::vector<std::string> registered_lines(const fs::path& runs) {
  std::vector<std::string> lines;
  if (!fs::exists(runs / kRegistrations)) return lines;
  std::istringstream text(read_file(runs / kRegistrations));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<Registration> read_registrations(const fs::path& runs) {
  std::vector<Registration> chain;
  for (const std::string& line : registered_lines(runs)) {
    Json record = Json::parse(line, nullptr, false);
    const auto has_map = [&](const char* key) { return record.is_object() && record.value(key, Json()).is_object(); };
    if (!has_map("claims") || !has_map("runs") || !record.value("before", Json()).is_string()) {
      throw DataError(fmt::format("{}:{}: this is no record of registered claims\nput the file back as it was",
                                  (runs / kRegistrations).string(), chain.size() + 1));
    }
    chain.push_back({sha256(line), std::move(record)});
  }
  return chain;
}

std::string last_registration(const fs::path& runs) {
  const std::vector<std::string> lines = registered_lines(runs);
  return lines.empty() ? "" : sha256(lines.back());
}

bool has_record(const std::vector<Registration>& chain, const std::string& hash) {
  return std::ranges::any_of(chain, [&](const Registration& one) { return one.hash == hash; });
}

bool is_after(const std::vector<Registration>& chain, std::string hash, const std::string& other) {
  for (std::size_t steps = 0; hash != other && steps <= chain.size(); ++steps) {
    const auto at = std::ranges::find_if(chain, [&](const Registration& one) { return one.hash == hash; });
    if (at == chain.end()) return false;
    hash = at->before();
  }
  return hash == other;
}

std::optional<std::string> seen_by_run(const fs::path& run) {
  std::optional<std::string> seen;
  bool has_begun = false;
  read_journal(RunPaths{run}.journal(), [&](const Json& record) {
    if (record.value("state", "") != "running" || (has_begun && !record.value("fresh", false))) return;
    has_begun = true;
    const auto field = record.find(kSeenRegistration);
    seen = field != record.end() && field->is_string() ? std::optional(field->get<std::string>()) : std::nullopt;
  });
  return seen;
}

Registration register_record(const fs::path& runs, Json record) {
  record["before"] = last_registration(runs);
  create_folders(runs);
  const std::string line = text_of_record(record);
  AppendFile(runs / kRegistrations).append(line, true);
  return {sha256(line), std::move(record)};
}

void merge_registrations(const fs::path& from, const fs::path& runs) {
  const std::vector<std::string> here = registered_lines(runs);
  for (const std::string& line : registered_lines(from)) {
    if (std::ranges::find(here, line) == here.end()) AppendFile(runs / kRegistrations).append(line, true);
  }
}

}  // namespace xlm
