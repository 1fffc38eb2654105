// The groups that a model pools a text into.
#include "core/eval/segment.h"

#include <algorithm>

#include "base/error.h"
#include "core/models/capabilities.h"
#include "core/runtime/device.h"

namespace xlm {

std::vector<bool> draw_boundaries(LanguageModel& model, const std::vector<std::int64_t>& ids,
                                  const SplitSettings& settings) {
  const UsageError no_groups(
      "this model draws no boundaries: it does not pool its tokens\n"
      "use a model that does; docs/models.md says which do");
  auto* const pools = capability<PoolsTokens>(model);
  if (pools == nullptr) throw no_groups;
  const torch::NoGradGuard no_grad;
  model.eval();
  const auto length = static_cast<std::int64_t>(ids.size());
  // Of windows behind a beginning, that takes one place, and at least half a window stands before what is drawn.
  const std::int64_t beginning = model.scheme() == TextScheme::kRandomWindows ? 1 : 0;
  const std::int64_t context = std::max<std::int64_t>(1, settings.context - beginning);
  const std::int64_t stride =
      beginning > 0 ? std::min(settings.stride, std::max<std::int64_t>(1, context / 2)) : settings.stride;
  std::vector<bool> flags;
  for (std::int64_t first = 0; first < length; first += stride) {
    const std::int64_t end = std::min(first + stride, length);
    const std::int64_t begin = std::max<std::int64_t>(0, first - (context - stride));
    std::vector<std::int64_t> window(static_cast<std::size_t>(beginning), kBeginning);
    window.insert(window.end(), ids.begin() + begin, ids.begin() + end);
    const ModelInput input{.tokens = torch::tensor(window).unsqueeze(0),  // [1, T]
                           .positions = torch::arange(begin, end + beginning, torch::kLong).unsqueeze(0),
                           .boundaries = {},
                           .scored = end - first};
    torch::Tensor drawn;  // [1, T]
    {
      const PrecisionScope precision(settings.precision, settings.device);
      drawn = pools->boundaries(input.to(settings.device));
    }
    if (!drawn.defined()) throw no_groups;
    drawn = drawn.cpu().squeeze(0).contiguous();
    const bool* values = drawn.data_ptr<bool>() + (beginning + first - begin);
    flags.insert(flags.end(), values, values + (end - first));
  }
  return flags;
}

}  // namespace xlm
