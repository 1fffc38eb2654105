// Tensors over all processes of a run.
#pragma once

#include "core/parallel/process_group.h"
#include "core/runtime/safetensors.h"

namespace xlm {

/// Sums the gradients of all weights, float32 or double. A weight without a gradient in any process stays without one.
void sum_gradients(ProcessGroup& group, const NamedTensors& weights);

/// The `rows` rows of all processes, in order, if each has its own_rows: [own rows, …] to [rows, …], on the CPU.
torch::Tensor gather_rows(ProcessGroup& group, const torch::Tensor& own, std::int64_t rows);

}  // namespace xlm
