// Whether two settings differ on one text: a test over its documents instead of seeds.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "results/judgement/pairing.h"
#include "results/judgement/part_comparison.h"

namespace xlm {

struct DocumentComparison {
  std::optional<PartComparison> test;
  std::string parts;    // what the parts are: "1,000 stretches of 5,000 tokens"
  std::string problem;  // why there is no test, if some runs kept the losses of parts
};

/// Compares settings by the losses of documents that the journals below `folder` hold (eval.by_document), averaged over
/// the runs of each. The column is bpc or loss of a split; others are no sums over documents and give nullopt, as do
/// runs that kept none. Journals hold those of a run's own evaluations alone. `level` is 0 … 1.
std::optional<DocumentComparison> compare_documents(RunTable& runs, const SeedValues& a, const SeedValues& b,
                                                    const std::string& column, const fs::path& folder, double level);

}  // namespace xlm
