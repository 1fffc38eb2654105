// What people say of a run afterwards: tags, a note, and that it is bad. Remarks are records of the run's journal, so
// they are merged and packed with it, and change nothing that the run computes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// The type of their records in the journal:
///   remark  {"tag": NAME, "given": true|false}   the run has the tag, or has it no longer
///   remark  {"note": TEXT}                       replaces the note; empty: there is none
///   remark  {"bad": REASON}                      the run is left out of what is shown; empty: it is not
/// Of several about the same thing that with the latest time counts, wherever it stands: merged journals have theirs
/// in another order.
inline constexpr const char* kRemark = "remark";

/// Adds up the remarks of one run.
class Remarks {
 public:
  /// Throws Json::exception for a field of a wrong type.
  void add(const Json& record, double time);

  std::vector<std::string> tags() const;  // sorted
  const std::string& note() const { return note_.second; }
  const std::string& bad() const { return bad_.second; }

 private:
  std::map<std::string, std::pair<double, bool>> tags_;  // when, and whether it has the tag
  std::pair<double, std::string> note_{0, ""};
  std::pair<double, std::string> bad_{0, ""};
};

/// What is wrong with the name of a tag; empty: nothing. Tags are letters of ASCII, digits, dots, dashes and
/// underscores.
std::string problem_of_tag(const std::string& tag);

/// Appends a remark to the journal of a run, also while a worker runs it. It is on the disk on return. `fields` are one
/// of the three above. Throws DataError if the run has no journal, and Error if it cannot be written.
void append_remark(const fs::path& run_folder, const Json& fields);

}  // namespace xlm
