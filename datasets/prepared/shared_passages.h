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
  std::int64_t every = 1;     // of the stretches, which ones count: all, every second, …
  std::int64_t shared = 0;    // of the passages, how many stand somewhere in the other one
  std::int64_t length = 0;
  std::int64_t example = 0;  // where the first of them begins

  double share() const { return passages == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(passages); }
};

/// Validation and test against training, and test against validation: those pairs that are there. A passage has 200
/// characters or bytes, or 50 byte pairs; one of few different tokens (rules, blank space) does not count. At most
/// `most` of a split are looked for, evenly spread over it. Memory: about 40 bytes for each of those; time: one look at
/// each token of the other.
std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most = std::int64_t{1} << 20);

/// "50 % of test stands in train too (5 of 10 passages of 200 characters)"; where not all were looked for "about 50 %"
/// and how many were.
std::string shared_passages_text(const SharedPassages& found, Vocabulary::Unit unit);

}  // namespace xlm
