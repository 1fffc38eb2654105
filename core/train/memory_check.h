// Whether memory suffices to train a model, and to compute a step.
#pragma once

#include <cstdint>
#include <functional>

#include <torch/torch.h>

#include "base/memory_limit.h"
#include "core/api/interface.h"

namespace xlm {

/// Throws MemoryLimitError if a model's weights, their gradients and the optimiser's averages need more than
/// `available` bytes of main memory. Without this check the system may kill the process without a message. Activations
/// are not counted. A GPU is not checked: it reports that its memory is full.
void check_memory(const RunOptions& options, std::int64_t symbols, torch::Device device,
                  std::uint64_t available = memory_limit());

/// Does the part of a step that computes `rows` rows of a batch at once, and returns its loss. Throws StepMemoryError
/// if memory is too small.
double within_memory_of_a_step(std::int64_t rows, const std::function<double()>& work);

}  // namespace xlm
