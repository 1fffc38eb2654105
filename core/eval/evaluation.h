// The loss of a model on a whole split, by the scheme that the model asks for.
#pragma once

#include <cstdint>
#include <functional>

#include "core/batches/batch_stream.h"
#include "core/models/language_model.h"
#include "core/parallel/process_group.h"

namespace xlm {

struct SplitSettings {
  std::int64_t rows = 8;         // the split is cut into so many rows of ⌊N/rows⌋ tokens; the remainder is dropped
  std::int64_t block = 512;      // tokens of a row at a time, where state is carried along
  std::int64_t context = 2048;   // tokens of a window, and
  std::int64_t stride = 512;     // its last tokens that are scored, where no state is carried
  std::int64_t max_windows = 0;  // of a row, there; 0: all
  bool first_token = false;      // of each document is scored too, after the symbol for the end of a text; of windows
  Precision precision = Precision::kFloat32;
  torch::Device device = torch::kCPU;
  ProcessGroup* group = nullptr;  // of which each process evaluates its part of the split; null: all of it is done here
};

struct SplitLoss {
  std::int64_t tokens = 0;  // scored predictions
  std::int64_t bytes = 0;   // of the symbols that were scored (TokenSource::bytes)
  double loss = 0;          // mean, nats
  NamedValues statistics;   // the model's, over the whole split
  bool whole = true;        // false: max_windows left the rest of the rows out
  bool stopped = false;     // `go_on` said no; what is said above is meaningless
};

/// Asked after every call of the model with what this process has scored and what it is to score; false stops.
using GoOn = std::function<bool(std::int64_t scored, std::int64_t total)>;

/// Every token of a row but its first is predicted once; of a document, if `first_token` says so, its first as well.
/// The model's statistics are those of the split afterwards. Throws DataError when the split has fewer than two tokens
/// per row.
SplitLoss evaluate_split(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                         const GoOn& go_on);

/// Throws DataError when a split of so many tokens is too short to be evaluated in rows; `split` is what it is called.
void check_length(const LanguageModel& model, std::int64_t tokens, std::int64_t rows, const std::string& split);

/// What a model has counted in all processes, which all call this; null: in this one, which is alone.
Counts counts_of_all(const LanguageModel& model, ProcessGroup* group);
/// Makes what a model has counted that of all processes, which all call this.
void unite_counts(LanguageModel& model, ProcessGroup& group);

/// The settings that a run's options ask for.
SplitSettings split_settings(const RunOptions& options, torch::Device device);

}  // namespace xlm
