// Passages that two splits share: text seen in training shows little about how well a model predicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/prepared/prepared.h"

namespace xlm {

/// How much of a split occurs in another one, too.
struct SharedPassages {
  std::string split;          // "test"
  std::string other;          // "train"
  std::int64_t passages = 0;  // of the split: successive stretches of `length` tokens that are not trivial
  std::int64_t every = 1;     // one in so many stretches counts
  std::int64_t shared = 0;    // of the passages, how many occur in the other one
  std::int64_t length = 0;
  std::int64_t example = 0;  // the first token of the first of them

  double share() const { return passages == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(passages); }
};

constexpr std::int64_t kMaxPassages = std::int64_t{1} << 14;  // shares to 0.4 %, and a table that a core's cache holds

/// Validation and test against training, and test against validation, if they exist. A passage has 200 characters or
/// bytes, or 50 byte pairs; one of few different tokens (rules, blank space) does not count. Searches at most `most`
/// passages of a split, spread evenly over it. Memory: some 10 MB; time: one look at every 20th token of the other.
std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most = kMaxPassages,
                                            int threads = 1);

/// "50 % of test also occurs in train (5 of 10 passages of 200 characters)"; "about 50 %", and how many were searched,
/// if not all were.
std::string shared_passages_text(const SharedPassages& found, Vocabulary::Unit unit);

}  // namespace xlm
