// Streaming evaluation: every token of a row but its first is predicted once, with state carried along the row.
#pragma once

#include <functional>

#include "core/models/language_model.h"
#include "core/train/stream.h"

namespace xlm {

struct StreamingEvaluation {
  std::int64_t rows = 8;  // the split is cut into so many rows of ⌊N/rows⌋ tokens; the remainder is dropped (1.16)
  std::int64_t block = 512;
  Precision precision = Precision::kFloat32;
  torch::Device device = torch::kCPU;
};

struct StreamingResult {
  std::int64_t tokens = 0;  // scored predictions
  double loss = 0;          // mean, nats
  NamedValues statistics;   // the model's, over the whole split
  bool stopped = false;     // `go_on` said no; the rest is meaningless
};

/// The last, short block of a row is scored too. The model's statistics are those of the split afterwards.
/// `go_on(scored, total)` is asked after every block. Throws DataError when the split has fewer than two tokens per
/// row.
StreamingResult evaluate_streaming(LanguageModel& model, const TokenSource& source, const StreamingEvaluation& settings,
                                   const std::function<bool(std::int64_t, std::int64_t)>& go_on);

/// Values that follow from a split's loss: bpc, and for text in words or BPE its perplexities and bits per byte.
NamedValues loss_values(double loss, std::int64_t tokens, const Split& split, Vocabulary::Unit unit);

}  // namespace xlm
