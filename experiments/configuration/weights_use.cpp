// Which options make a difference to what is done with weights.
#include "experiments/configuration/weights_use.h"

namespace xlm {

bool makes_a_difference(const OptionEntry& entry, WeightsUse use, TextScheme scheme) {
  if (entry.of_weights || use == WeightsUse::kAnything) return !entry.of_weights;
  const std::string_view key = entry.key;
  const bool evaluates = use == WeightsUse::kEval || use == WeightsUse::kEvalOverlap;
  const bool samples = use == WeightsUse::kSample || use == WeightsUse::kContinuation;
  const bool in_chunks = scheme == TextScheme::kRotatedChunks;
  if (key == "model.window" || key == "model.overlap")
    return use != WeightsUse::kEvalOverlap;  // its own options say it
  // An hourglass is read in eval.context, and what a token costs is counted by the block.
  if (key == "train.block") return scheme == TextScheme::kStreaming || (in_chunks && evaluates);
  if (key == "train.precision") return !samples;
  if (key == "eval.batch") return evaluates;
  if (key == "eval.context" || key == "eval.stride") return in_chunks;  // the one must hold the other
  if (key == "eval.max_windows") return in_chunks && evaluates;
  if (key == "eval.first_token") return scheme == TextScheme::kWindows && evaluates;
  return true;
}

}  // namespace xlm
