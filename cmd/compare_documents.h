// The part of xlm compare that tests over the documents of a text instead of seeds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "results/store/part_bootstrap.h"

namespace xlm {

/// Two settings, part by part.
struct DocumentComparison {
  std::optional<PartComparison> test;
  std::string parts;    // what the parts are: "1,000 stretches of 5,000 tokens"
  std::string problem;  // why there is no test, if some runs kept the losses of parts
};

/// Compares runs of two settings by the losses of documents that their journals hold (eval.by_document), averaged over
/// the runs of each. `column` is bpc or loss of a split; others are no sums over documents and give nullopt, as do runs
/// that kept none. `level` is 0 … 1.
std::optional<DocumentComparison> compare_documents(const std::string& column, const std::vector<std::string>& a,
                                                    const std::vector<std::string>& b, const fs::path& runs,
                                                    double level);

/// Lines for a terminal, and JSON.
std::string document_lines(const DocumentComparison& compared, double level);
Json document_json(const DocumentComparison& compared);

}  // namespace xlm
