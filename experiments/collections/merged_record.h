// What a merge did to a record next to the runs: of a search, or of a line of tries.
#pragma once

#include <string>

namespace xlm {

struct MergedRecord {
  std::string kind;  // "search", "line"
  std::string name;
  std::string note;          // what a user has to know of it
  bool is_conflict = false;  // a user has to look at it
};

}  // namespace xlm
