// Patches of equally many bytes: one begins at every position that is a multiple of P.
#include "core/nn/patches.h"

namespace xlm {
namespace {

class FixedBoundaries final : public PatchBoundaries {
 public:
  explicit FixedBoundaries(std::int64_t factor) : factor_(factor) {}

  PatchStarts find(const PatchText& text) const override {
    const torch::Tensor positions =
        text.positions.defined() ? text.positions
                                 : torch::arange(text.tokens.size(1), text.tokens.options()).expand_as(text.tokens);
    return {.begins = (positions.remainder(factor_) == 0).logical_or(text.beginnings), .probabilities = {}};
  }

  std::int64_t most_patches(std::int64_t length) const override { return (length + factor_ - 1) / factor_; }

 private:
  std::int64_t factor_;  // P
};

}  // namespace

std::unique_ptr<PatchBoundaries> fixed_boundaries(const PatchSetting& setting) {
  return std::make_unique<FixedBoundaries>(setting.options->factor);
}

}  // namespace xlm
