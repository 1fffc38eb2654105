// Whether there is memory to train a model at all.
#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "base/memory_limit.h"
#include "core/api/interface.h"

namespace xlm {

/// Throws MemoryLimitError where a model's weights, their gradients and what the optimiser keeps of each weight would
/// be more than the `available` bytes of main memory: who takes what is not there may be killed without a word. What a
/// batch takes comes on top and is not counted. Of a GPU nothing is asked: it says itself when it is full.
void check_memory(const RunOptions& options, std::int64_t symbols, torch::Device device,
                  std::uint64_t available = memory_limit());

}  // namespace xlm
