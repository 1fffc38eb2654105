// Whether there is memory to train a model at all, and for a step.
#pragma once

#include <cstdint>
#include <functional>

#include <torch/torch.h>

#include "base/memory_limit.h"
#include "core/api/interface.h"

namespace xlm {

/// Throws MemoryLimitError where a model's weights, their gradients and what the optimiser keeps of each weight would
/// be more than the `available` bytes of main memory: who takes what is not there may be killed without a word. What a
/// batch takes comes on top and is not counted. Of a GPU nothing is asked: it says itself when it is full.
void check_memory(const RunOptions& options, std::int64_t symbols, torch::Device device,
                  std::uint64_t available = memory_limit());

/// What the rows of a batch take is the one need of memory that is less where fewer of them are computed at once: does
/// that part of a step and returns its loss. Throws MemoryError where memory is too small for it.
double within_memory_of_a_step(const std::function<double()>& work);

}  // namespace xlm
