// How single heads look back, for figures of their attention.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/kernels/banded_attention.h"

namespace xlm {

/// Writes the attention of the n heads of `input` over their band L, and their mask if they have one, into rows of
/// values["attention"] and values["mask"] [heads of all layers, distances], the nearest distance first: means over the
/// queries and rows of the batch. Head i of `input` is row `first_row` + heads[i]. Beyond the band nothing is written;
/// nothing at all if `values` is empty, which requests nothing. `memory_spans` [B, L + M] are those of memories that
/// expire (expire_span.h); undefined: others. One head at a time, because the weights [B, 1, M, L] of all would be
/// large.
void trace_attention(const BandedAttentionInput& input, const torch::Tensor& memory_spans, std::int64_t first_row,
                     const std::vector<std::int64_t>& heads, std::map<std::string, torch::Tensor>& values);

}  // namespace xlm
