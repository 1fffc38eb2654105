// Places of patches, and the list of kinds of boundaries.
#include "core/nn/patches.h"

#include <array>

#include "core/kernels/segment_pooling.h"

namespace xlm {

#define XLM_PATCH_BOUNDARIES(kind, value, name) \
  std::unique_ptr<PatchBoundaries> name##_boundaries(const PatchSetting& setting);
#include "core/api/patch_boundaries.def"
#undef XLM_PATCH_BOUNDARIES

std::unique_ptr<PatchBoundaries> make_patch_boundaries(const PatchSetting& setting) {
  static constexpr std::array kKinds{
  // in the order of PatchBoundaryOptions::Type
#define XLM_PATCH_BOUNDARIES(kind, value, name) name##_boundaries,
#include "core/api/patch_boundaries.def"
#undef XLM_PATCH_BOUNDARIES
  };
  return kKinds.at(static_cast<std::size_t>(setting.options->type))(setting);
}

PatchPlaces find_places(const torch::Tensor& begins, std::int64_t count) {
  const torch::NoGradGuard no_grad;
  const std::int64_t batch = begins.size(0);
  const std::int64_t length = begins.size(1);
  const torch::Tensor all = begins.to(torch::kLong).cumsum(1);  // [B, T]: patches begun at or before a byte
  PatchPlaces found;
  found.count = count;
  found.left_out = all > count;
  found.begun = all.clamp_max(count);
  found.patch = torch::where(begins, all - 1, count).clamp_max(count);
  const torch::Tensor t = torch::arange(length, all.options()).expand({batch, length});
  // All bytes without a patch write to column G, which is dropped.
  found.places = torch::full({batch, count + 1}, length, all.options())
                     .scatter_(1, found.patch, t)
                     .narrow(1, 0, count)
                     .contiguous();
  return found;
}

torch::Tensor PatchBoundaries::up(const torch::Tensor& hidden, const PatchPlaces& places, std::int64_t width) const {
  const torch::Tensor taken = move_rows(hidden, places.places, places.patch);  // [B, G, d]
  return torch::constant_pad_nd(taken, {width - hidden.size(2), 0}, 0);
}

torch::Tensor PatchBoundaries::down(const torch::Tensor& hidden, const torch::Tensor& patches,
                                    const PatchPlaces& places, const PatchStarts& /*starts*/) const {
  const torch::Tensor last = patches.narrow(2, patches.size(2) - hidden.size(2), hidden.size(2));  // [B, G, d]
  return hidden + move_rows(last, places.patch, places.places);
}

}  // namespace xlm
