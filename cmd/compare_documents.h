// The part of xlm compare that tests over the documents of a text instead of seeds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "results/judgement/part_bootstrap.h"

namespace xlm {

/// Two settings, part by part.
struct DocumentComparison {
  std::optional<PartComparison> test;
  std::string parts;    // what the parts are: "1,000 stretches of 5,000 tokens"
  std::string problem;  // why there is no test, if some runs kept the losses of parts
};

/// What is compared over documents.
struct DocumentQuestion {
  std::string column;
  std::vector<std::string> a;  // ids of the runs of one setting
  std::vector<std::string> b;
  bool is_of_evaluations = false;  // a number is of an evaluation with other settings than its run's own
  bool is_of_one_corpus = true;    // all numbers were measured on the same text
};

/// Compares runs of two settings by the losses of documents that their journals hold (eval.by_document), averaged over
/// the runs of each. The column is bpc or loss of a split; others are no sums over documents and give nullopt, as do
/// runs that kept none. Journals hold those of a run's own evaluations alone. `level` is 0 … 1.
std::optional<DocumentComparison> compare_documents(const DocumentQuestion& question, const fs::path& runs,
                                                    double level);

/// Lines for a terminal, and JSON.
std::string document_lines(const DocumentComparison& compared, double level);
Json document_json(const DocumentComparison& compared);

}  // namespace xlm
