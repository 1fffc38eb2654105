// What a search has asked for, kept in the folder of runs. It holds for every later plan of the same search, also where
// another version of Optuna would ask for something else, or a run of an earlier round has been done again since.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/sweeps/search.h"

namespace xlm {

class SearchRecord {
 public:
  /// The record in a folder of runs. It has nothing until it is opened.
  explicit SearchRecord(const fs::path& runs) : searches_(runs / ".searches") {}

  /// Finds the record of a search by what it varies and by the ids of its first round, which depend on no result.
  void open(const Search& search, const std::vector<std::string>& first_runs);

  /// What was recorded of a trial. Throws DataError if the record is damaged.
  std::optional<SearchSetting> find(std::int64_t trial) const;

  /// A setting of a trial, to be recorded if it is not yet. Does nothing before the record is opened.
  void propose(std::int64_t trial, const SearchSetting& setting);

  /// Records what was proposed. Returns false if another process has recorded one of the trials first: its setting
  /// counts, so that the search has to be planned again.
  bool write();

 private:
  fs::path file_of(std::int64_t trial) const;

  fs::path searches_;
  fs::path folder_;       // empty: not opened
  std::size_t keys_ = 0;  // of a setting
  std::map<std::int64_t, SearchSetting> proposed_;
};

}  // namespace xlm
