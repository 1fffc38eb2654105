// `program.metrics`: where a program's numbers are found, besides the file of metrics that it is given.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace xlm {

enum class MetricKind { kLines, kCsv, kJsonLines, kTensorBoard };

/// One of `lines: PATTERN`, `csv: FILE`, `jsonl: FILE`, `tensorboard: FOLDER`; of the last three also
/// `names: {THEIRS: OURS}`, of the first `thousands: SIGN`.
struct MetricDescription {
  MetricKind kind = MetricKind::kLines;
  std::string target;  // the pattern, or the path: placeholders are the caller's to resolve, before a reader is made
  std::vector<std::pair<std::string, std::string>> names = {};  // what the program calls it, what the store calls it
  char thousands = 0;  // kLines: the sign between thousands of its numbers, such as ','; 0: none
};

/// The list `program.metrics`. Throws UsageError that says which entry is wrong: unknown keys, bad patterns with the
/// place, names that no quantity may have.
std::vector<MetricDescription> metric_descriptions(const Json& list);

}  // namespace xlm
