// One evaluation as the journal holds it: a split's loss, what follows from it, and the model's statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
/// values contain `worse_than_guessing`, which is 1.
std::optional<Evaluation> measure(LanguageModel& model, const MeasuredText& text, const SplitSettings& settings,
                                  std::int64_t seed, Traced traced, const ProgressCallback& progress);

}  // namespace xlm
