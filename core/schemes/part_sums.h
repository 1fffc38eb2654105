// Losses of the parts of a split: of its documents, or of stretches of a text that has few. Two models that were
// evaluated on the same text can be compared part by part.
//
// B rows of a batch, n predictions of a row.
#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "core/api/interface.h"
#include "core/parallel/process_group.h"
#include "core/schemes/token_source.h"

namespace xlm {

class PartSums {
 public:
  /// The parts follow from the text alone: documents, several together if there are thousands, or a thousand stretches
  /// if there are fewer than a hundred documents.
  explicit PartSums(const TokenSource& source);

  /// Adds the losses [B, n] of a call's predictions, double, against `targets` [B, n], where kNoTarget does not count.
  /// Both are on the CPU and contiguous. The first target of row r is token `first[r]` of the text, and the others
  /// follow it.
  void add(const torch::Tensor& losses, const torch::Tensor& targets, const std::vector<std::int64_t>& first);
  /// The same of rows that begin at `first`, `first + stride`, ….
  void add(const torch::Tensor& losses, const torch::Tensor& targets, std::int64_t first, std::int64_t stride);

  /// Sums over all processes, each of which must call this.
  void unite(ProcessGroup& group);

  const PartLosses& losses() const { return losses_; }

 private:
  std::vector<std::int64_t> begins_;  // the first token of each part, rising; the first part begins at 0
  PartLosses losses_;
};

}  // namespace xlm
