// Compares two copies of one run by their journals: which continues the other, and what to do with both.
#pragma once

#include <string>

namespace xlm {

enum class JournalRelation {
  kSame,
  kShorter,     // the journal there is the beginning of the one here, or has come less far
  kLonger,      // the reverse: the records there are taken
  kUnited,      // the same run to its end, with different records after it
  kDoneTwice,   // two ends with the same results: in evaluations, and in numbers of training by which runs are compared
  kConflicting  // two ends with different results
};

struct JournalVerdict {
  JournalRelation relation = JournalRelation::kSame;
  std::string text;  // the new content of the journal here; empty: unchanged
};

/// Compares the journals of two folders of one run. If the folders are exchanged, kShorter and kLonger are exchanged,
/// and the text is the same. Keeps the experiments and wanted evaluations of both.
JournalVerdict compare_runs(const fs::path& here, const fs::path& there);

}  // namespace xlm
