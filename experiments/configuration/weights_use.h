// What commands do with weights that are there already, and which options make a difference to it.
#pragma once

#include <array>
#include <string_view>

#include "base/options.h"
#include "core/api/text_scheme.h"

namespace xlm {

/// What weights are wanted for, called as the command that does it.
enum class WeightsUse {
  kAnything,  // by a recipe, which lays the same settings over models of several kinds
  kEval,
  kEvalOverlap,
  kSegment,
  kSample,
  kContinuation,
};
inline constexpr std::array<std::string_view, 6> kWeightsUseNames{"",        "eval",   "eval-overlap",
                                                                  "segment", "sample", "continuation"};
inline std::string_view name_of(WeightsUse use) { return kWeightsUseNames[static_cast<std::size_t>(use)]; }

/// Whether an option, changed for weights of a model that is fed in this way, can change what comes out, or how.
bool makes_a_difference(const OptionEntry& entry, WeightsUse use, TextScheme scheme);

}  // namespace xlm
