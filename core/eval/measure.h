// One evaluation as the journal holds it: a split's loss, all that follows from it, and what the model says of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/eval/evaluation.h"

namespace xlm {

/// A split as a model is asked to predict it.
struct MeasuredText {
  std::string name;  // "valid"
  const Split& split;
  const TokenSource& source;     // of that split, in the ids of
  const Vocabulary& vocabulary;  // the model
};

enum class Traced { kNo, kYes };

/// `step` and `final` are left to the caller; noise of the model follows from `seed`. Nothing when `go_on` stopped it.
/// Throws as evaluate_split. `worse_than_guessing` is 1 among the values of a loss above that of guessing all symbols
/// alike, and is not there otherwise.
std::optional<Evaluation> measure(LanguageModel& model, const MeasuredText& text, const SplitSettings& settings,
                                  std::int64_t seed, Traced traced, const GoOn& go_on);

}  // namespace xlm
