// Two copies of one run, told apart by their journals: which one goes on from the other, and what becomes of both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/run_folder/run_folder.h"

namespace xlm {

enum class JournalRelation {
  kSame,
  kShorter,     // what is there is the beginning of what is here, or has come less far
  kLonger,      // the other way round: the records are taken from there
  kUnited,      // the same run to its end, with other records behind it in both
  kDoneTwice,   // two ends with the same results
  kConflicting  // two ends with different results
};

struct JournalVerdict {
  JournalRelation relation = JournalRelation::kSame;
  std::string text;  // what the journal is to hold, where that is not what it holds here
};

/// Compares the journals of two folders of one run. It does not matter which is asked about which: with the folders
/// exchanged kShorter and kLonger are exchanged, and the text is the same. Experiments that the run belongs to in
/// either are kept, and so are evaluations that are wanted of it.
JournalVerdict compare_runs(const fs::path& here, const fs::path& there);

/// Whether the numbers that a finished run reports are equal: all main evaluations, but for the seconds they took.
bool have_same_results(const Run& a, const Run& b);

}  // namespace xlm
