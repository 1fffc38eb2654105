// How single heads look back.
#include "core/nn/traced_attention.h"

#include "core/nn/expire_span.h"

namespace xlm {

void trace_attention(const BandedAttentionInput& input, const torch::Tensor& memory_spans, std::int64_t first_row,
                     const std::vector<std::int64_t>& heads, std::map<std::string, torch::Tensor>& values) {
  if (values.empty()) return;
  const std::int64_t band = input.position.size(1);
  const bool expiring = memory_spans.defined();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto put = [&](const char* name, const torch::Tensor& by_band) {                  // [1 | B, 1, 1 | M, L]
      const torch::Tensor mean = by_band.to(torch::kDouble).flatten(0, 2).mean(0).flip(0);  // [L]
      values.at(name)[first_row + heads[i]].narrow(0, 0, band).copy_(mean);
    };
    const auto of_head = [&](const torch::Tensor& x) {
      return x.defined() ? x.narrow(1, static_cast<std::int64_t>(i), 1) : x;
    };
    BandedAttentionInput one = input;
    one.query = of_head(input.query);
    one.key = of_head(input.key);
    one.span = of_head(input.span);
    put("attention", expiring ? expiring_attention_weights(one, memory_spans) : banded_attention_weights(one));
    if (expiring) put("mask", expire_mask(memory_spans, band, one.ramp));
    if (one.span.defined()) put("mask", banded_soft_mask(one));
  }
}

}  // namespace xlm
