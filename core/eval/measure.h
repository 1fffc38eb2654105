// One evaluation as the journal holds it: a split's loss, what follows from it, and the model's statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/eval/evaluation.h"

namespace xlm {

/// A split as a model reads it.
struct MeasuredText {
  std::string name;  // "valid"
  const Split& split;
  const TokenSource& source;     // the split in the model's ids
  const Vocabulary& vocabulary;  // of the model
};

enum class Traced { kNo, kYes };

/// Evaluates a split; the caller sets `step` and `final`. Random numbers follow from `seed`. Returns nullopt if
/// `progress` stops it. Throws as evaluate_split. Only if the loss is above that of guessing all symbols alike, the
/// values contain `worse_than_guessing`, which is 1. They have no `bits_per_byte` if the split has unknown characters.
std::optional<Evaluation> measure(LanguageModel& model, const MeasuredText& text, const SplitSettings& settings,
                                  std::int64_t seed, Traced traced, const ProgressCallback& progress);

/// What a reader of a final evaluation must know: the model is worse than guessing, or much is not scored.
std::vector<std::string> evaluation_warnings(const Evaluation& evaluation, const EvalOptions& options,
                                             std::int64_t symbols);

}  // namespace xlm
