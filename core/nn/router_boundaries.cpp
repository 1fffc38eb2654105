// Patches that begin where neighbouring bytes differ, learnt end to end (H-Net; Hwang et al. 2025, §2.2): a router of
// cosines says with which probability, and what comes down is smoothed by these probabilities.
#include <string>
#include <utility>

#include "core/kernels/clamp.h"
#include "core/kernels/linear.h"
#include "core/kernels/segment_pooling.h"
#include "core/nn/patches.h"

namespace xlm {
namespace {

using torch::Tensor;

constexpr double kLeastShare = 1e-4;    // of a patch's own vector in its smoothed one, and of those before it
constexpr double kRatioWeight = 0.03;   // of the loss if the options give none
constexpr double kLeastLength = 1e-12;  // of a vector whose direction is compared

/// Of length 1.
Tensor direction_of(const Tensor& x) { return x / x.norm(2, {-1}, /*keepdim=*/true).clamp_min(kLeastLength); }

class RouterBoundaries final : public PatchBoundaries {
 public:
  explicit RouterBoundaries(const PatchSetting& setting)
      : wanted_(static_cast<double>(setting.options->factor)),
        weight_(setting.options->loss_weight > 0 ? setting.options->loss_weight : kRatioWeight) {
    const std::int64_t width = setting.local_width;
    const auto declare = [&](const char* name, Tensor initial) {
      return (*setting.declare)(std::string(kPatchBoundaries) + name, std::move(initial));
    };
    query_ = declare("q_proj.weight", torch::eye(width));
    key_ = declare("k_proj.weight", torch::eye(width));
    residual_ = declare("residual_proj.weight", torch::zeros({width, width}));
    if (setting.width > width) pad_ = declare("pad", torch::zeros({setting.width - width}));
  }

  /// The first byte has none before it: it begins a patch.
  PatchStarts find(const PatchText& text) const override {
    const std::int64_t others = text.hidden.size(1) - 1;
    const Tensor before = direction_of(linear_layer(text.hidden, query_)).narrow(1, 0, others);
    const Tensor here = direction_of(linear_layer(text.hidden, key_)).narrow(1, 1, others);
    const Tensor difference = clamp_with_corners((1 - (before * here).sum(-1)) / 2, 0, 1);  // [B, T − 1]
    const Tensor first = torch::ones({text.hidden.size(0), 1}, difference.options().requires_grad(false));
    const Tensor probabilities = torch::cat({first, difference}, 1).masked_fill(text.beginnings, 1);  // [B, T]
    return {.begins = probabilities.detach() > 0.5, .probabilities = probabilities};
  }

  /// The vectors at the places, in front of a learnt one.
  Tensor up(const Tensor& hidden, const PatchPlaces& places, std::int64_t /*width*/) const override {
    const Tensor taken = move_rows(hidden, places.places, places.patch);  // [B, G, d]
    return pad_.defined() ? torch::cat({taken, pad_.expand({taken.size(0), taken.size(1), -1})}, 2) : taken;
  }

  /// Every byte gets the smoothed first d numbers of the patch that it belongs to, times 1 with the gradient of how
  /// sure the router is of this byte; and R times the byte's vector.
  Tensor down(const Tensor& hidden, const Tensor& patches, const PatchPlaces& places,
              const PatchStarts& starts) const override {
    const Tensor chance = starts.probabilities.unsqueeze(-1);  // [B, T, 1]
    const Tensor share = clamp_with_corners(move_rows(chance, places.places, places.patch).squeeze(-1), kLeastShare,
                                            1 - kLeastShare);                           // [B, G]
    const Tensor smooth = smoothed(patches.narrow(2, 0, hidden.size(2)), share);        // [B, G, d]
    const Tensor sure = torch::where(starts.begins.unsqueeze(-1), chance, 1 - chance);  // [B, T, 1]
    const Tensor one = 1 + (sure - sure.detach());
    return repeat_rows(smooth, places.begun - 1) * one + linear_layer(hidden, residual_);
  }

  /// N/(N − 1)·((N − 1)·F·G + (1 − F)·(1 − G)), the mean over rows, with the share F of bytes that begin a patch, and
  /// the mean G of the probabilities. It is least at F = G = 1/N.
  Tensor loss(const PatchText& /*text*/, const PatchStarts& starts) const override {
    const Tensor share = starts.begins.to(starts.probabilities.scalar_type()).mean(1);  // F [B]
    const Tensor mean = starts.probabilities.mean(1);                                   // G [B]
    const Tensor ratio = (wanted_ - 1) * share * mean + (1 - share) * (1 - mean);
    return weight_ * wanted_ / (wanted_ - 1) * ratio.mean();
  }

  /// Those of the three matrices [d, d].
  double multiply_adds() const override { return 3 * static_cast<double>(query_.numel()); }

 private:
  double wanted_;                  // N, bytes of a patch
  double weight_;                  // of the loss
  Tensor query_, key_, residual_;  // [d, d]
  Tensor pad_;                     // [D − d]; undefined if there are none
};

}  // namespace

std::unique_ptr<PatchBoundaries> router_boundaries(const PatchSetting& setting) {
  return std::make_unique<RouterBoundaries>(setting);
}

}  // namespace xlm
