// Patches that begin at every space, as those of the hourglass end there.
#include <algorithm>

#include "core/nn/patches.h"

namespace xlm {
namespace {

class WhitespaceBoundaries final : public PatchBoundaries {
 public:
  std::optional<std::string> set_symbols(const std::vector<std::string>& symbols) override {
    const auto found = std::ranges::find(symbols, " ");
    if (found == symbols.end()) return "model.boundaries.type is whitespace, and the vocabulary has no space";
    space_ = found - symbols.begin();
    return std::nullopt;
  }

  PatchStarts find(const PatchText& text) const override {
    TORCH_CHECK(space_ >= 0, "whitespace boundaries need to know which symbol is the space");
    const torch::Tensor spaces = (text.tokens == space_).logical_and(text.beginnings.logical_not());
    return {.begins = spaces.logical_or(text.beginnings), .probabilities = {}};
  }

 private:
  std::int64_t space_ = -1;
};

}  // namespace

std::unique_ptr<PatchBoundaries> whitespace_boundaries(const PatchSetting& /*setting*/) {
  return std::make_unique<WhitespaceBoundaries>();
}

}  // namespace xlm
