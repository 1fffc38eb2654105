// The chain of registered claims in a folder of runs: records that name the one before them by its hash, so
// that none can be changed, taken out or dated back without a trace.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// The key under which a run's record "running" says the hash of the last record that was there when it started; empty:
/// there was none.
inline constexpr const char* kSeenRegistration = "registered";

struct Registration {
  std::string hash;  // of its line
  Json record;
  bool follows = true;  // the record before it is the one that it names
};

/// In their order; empty without a chain. Throws DataError for a line that is no record.
std::vector<Registration> read_registrations(const fs::path& runs);

/// Empty without a chain.
std::string last_registration(const fs::path& runs);

/// Appends a record, to which it adds the hash of the one before it. It is on the disk on return.
Registration register_record(const fs::path& runs, Json record);

}  // namespace xlm
