// Patches that begin where the hourglass ends a group: at the last byte of a tokenizer's piece, by a predictor that
// learns from a segmentation of the training text (Nawrot et al. 2023, §3.1.2).
#include <fmt/format.h>

#include "core/nn/boundary_predictor.h"
#include "core/nn/patches.h"

namespace xlm {
namespace {

using torch::Tensor;

class UnigramBoundaries final : public PatchBoundaries {
 public:
  explicit UnigramBoundaries(const PatchSetting& setting)
      : predictor_(*setting.declare, fmt::format("{}predictor", kPatchBoundaries), setting.local_width,
                   setting.local_feed_forward) {}

  PatchStarts find(const PatchText& text) const override {
    const Tensor logits = predictor_.logits(text.hidden);
    const Tensor probabilities = torch::sigmoid(logits).masked_fill(text.beginnings, 1);
    return {.begins = probabilities.detach() > 0.5, .probabilities = probabilities, .logits = logits};
  }

  /// Binary cross-entropy against the segmentation, over all bytes but beginnings.
  Tensor loss(const PatchText& text, const PatchStarts& starts) const override {
    TORCH_CHECK(text.segmentation.defined(), "unigram boundaries need a segmentation of the text");
    const Tensor counted = text.beginnings.logical_not().to(starts.logits.scalar_type());  // [B, T]
    const Tensor targets = text.segmentation.to(starts.logits.scalar_type());
    const Tensor sum = torch::binary_cross_entropy_with_logits(starts.logits, targets, counted, {}, at::Reduction::Sum);
    return sum / counted.sum().clamp_min(1);
  }

  double multiply_adds() const override { return predictor_.multiply_adds(); }

 private:
  BoundaryPredictor predictor_;
};

}  // namespace

std::unique_ptr<PatchBoundaries> unigram_boundaries(const PatchSetting& setting) {
  return std::make_unique<UnigramBoundaries>(setting);
}

}  // namespace xlm
