// Passages that two splits share: what a model has seen in training says little about how well it predicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/prepared/prepared.h"

namespace xlm {

/// How much of a split stands in another one, too.
struct SharedPassages {
  std::string split;          // "test"
  std::string other;          // "train"
  std::int64_t passages = 0;  // of the split: stretches of `length` tokens that say something, one behind the other
  std::int64_t shared = 0;    // of those, how many stand somewhere in the other one
  std::int64_t length = 0;
  std::int64_t example = 0;  // where the first of them begins

  double share() const { return passages == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(passages); }
};

/// Validation and test against training, and test against validation: those pairs that are there. A passage has 200
/// characters or bytes, or 50 byte pairs; one of few different tokens (rules, blank space) does not count. Memory: one
/// number for each passage of the smaller split; time: one look at each token of the other.
std::vector<SharedPassages> shared_passages(const PreparedData& data);

}  // namespace xlm
