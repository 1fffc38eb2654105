// Which options make a difference to what is done with weights.
#include "experiments/configuration/weights_use.h"

namespace xlm {

bool makes_a_difference(const OptionEntry& entry, WeightsUse use, TextScheme scheme) {
  if (entry.key == "eval.by_document") return use == WeightsUse::kEval;  // runs of a sweep set it themselves
  if (entry.of_weights || use == WeightsUse::kAnything) return !entry.of_weights;
  const std::string_view key = entry.key;
  const bool evaluates = use == WeightsUse::kEval || use == WeightsUse::kEvalOverlap;
  const bool samples = use == WeightsUse::kSample || use == WeightsUse::kContinuation;
  if (is_scheme_option(key)) return uses_option(scheme, key, evaluates ? TextUse::kEvaluation : TextUse::kReading);
  if (key == "model.window" || key == "model.overlap")
    return use != WeightsUse::kEvalOverlap;  // its own options say it
  if (key == "train.precision") return !samples;
  if (key == "eval.batch") return evaluates;
  return true;
}

}  // namespace xlm
