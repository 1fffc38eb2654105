// The chain of registered claims in a folder of runs: records that name the one before them by its hash, so
// that none can be changed, taken out or dated back without a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// The key under which a run's record "running" says the hash of the last record that was there when it started; empty:
/// there was none.
inline constexpr const char* kSeenRegistration = "registered";

/// The option that keeps a split from being measured, and the field of a record that opens it for its runs.
inline constexpr const char* kSealedKey = "eval.sealed";
inline constexpr const char* kOpened = "opened";

struct Registration {
  std::string hash;  // of its line
  Json record;
  std::string before() const {
    return record.value("before", "");
  }  // the hash of the one before; empty: it is the first
  bool is_opening() const { return record.contains(kOpened); }
  bool opens(const std::string& run) const { return is_opening() && record["runs"].contains(run); }
};

/// The file of a folder of runs. It may hold several chains, where folders were merged.
inline constexpr const char* kRegistrations = "registered.jsonl";

/// In their order; empty without a chain. Throws DataError for a line that is no record.
std::vector<Registration> read_registrations(const fs::path& runs);

/// Empty without a chain.
std::string last_registration(const fs::path& runs);

bool has_record(const std::vector<Registration>& chain, const std::string& hash);

/// Whether a record is `other`, or follows it over records that are all there. "": before the first one.
bool is_after(const std::vector<Registration>& chain, std::string hash, const std::string& other);

/// The last record that was there when a run began, "" before the first; nothing if the run does not say it.
std::optional<std::string> seen_by_run(const fs::path& run);

/// Appends a record, to which it adds the hash of the one before it. It is on the disk on return.
Registration register_record(const fs::path& runs, Json record);

/// Appends the records of another folder of runs that are not here.
void merge_registrations(const fs::path& from, const fs::path& runs);

}  // namespace xlm
