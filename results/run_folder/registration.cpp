// The chain of registered claims.
#include "results/run_folder/registration.h"

#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"

namespace xlm {
namespace {

constexpr const char* kBefore = "before";

fs::path chain_of(const fs::path& runs) { return runs / "registered.jsonl"; }

}  // namespace

std::vector<Registration> read_registrations(const fs::path& runs) {
  std::vector<Registration> chain;
  if (!fs::exists(chain_of(runs))) return chain;
  std::istringstream lines(read_file(chain_of(runs)));
  for (std::string line; std::getline(lines, line);) {
    Json record = Json::parse(line, nullptr, false);
    if (!record.is_object() || !record.value("claims", Json()).is_object() ||
        !record.value("runs", Json()).is_object()) {
      throw DataError(fmt::format("{}:{}: this is no record of registered claims\nput the file back as it was",
                                  chain_of(runs).string(), chain.size() + 1));
    }
    const std::string before = chain.empty() ? "" : chain.back().hash;
    const bool follows = record.value(kBefore, "") == before;
    chain.push_back({sha256(line), std::move(record), follows});
  }
  return chain;
}

std::string last_registration(const fs::path& runs) {
  const std::vector<Registration> chain = read_registrations(runs);
  return chain.empty() ? "" : chain.back().hash;
}

Registration register_record(const fs::path& runs, Json record) {
  record[kBefore] = last_registration(runs);
  create_folders(runs);
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace);
  AppendFile(chain_of(runs)).append(line, true);
  return {sha256(line), std::move(record)};
}

}  // namespace xlm
