// Patches that begin at the first of neighbouring spacelike bytes (Slagle 2024).
#include "core/nn/patches.h"

namespace xlm {
namespace {

using torch::Tensor;

/// Whether a byte is no letter, no digit and not a continuation of a UTF-8 character.
bool is_spacelike(unsigned char byte) {
  const bool digit = byte >= '0' && byte <= '9';
  const bool letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
  const bool continuation = byte >= 0x80 && byte < 0xC0;
  return !digit && !letter && !continuation;
}

/// A character counts as its first byte, and the beginning of a text as spacelike.
class SpacelikeBoundaries final : public PatchBoundaries {
 public:
  std::optional<std::string> set_symbols(const std::vector<std::string>& symbols) override {
    spacelike_ = torch::zeros({static_cast<std::int64_t>(symbols.size())}, torch::kBool);
    for (std::size_t id = 0; id < symbols.size(); ++id) {
      const std::string& symbol = symbols[id];
      const bool is = !symbol.empty() && is_spacelike(static_cast<unsigned char>(symbol.front()));
      spacelike_.data_ptr<bool>()[id] = is;
    }
    return std::nullopt;
  }

  PatchStarts find(const PatchText& text) const override {
    TORCH_CHECK(spacelike_.defined(), "spacelike boundaries need to know the symbols");
    if (spacelike_.device() != text.tokens.device()) spacelike_ = spacelike_.to(text.tokens.device());
    const Tensor of_text = spacelike_.index_select(0, text.tokens.flatten()).view_as(text.tokens);  // [B, T]
    const Tensor spacelike = of_text.logical_or(text.beginnings);
    const Tensor none = torch::zeros_like(spacelike.narrow(1, 0, 1));
    const Tensor before = torch::cat({none, spacelike.narrow(1, 0, spacelike.size(1) - 1)}, 1);
    return {.begins = spacelike.logical_and(before.logical_not()).logical_or(text.beginnings), .probabilities = {}};
  }

  /// No two neighbours, because a beginning counts as spacelike.
  std::int64_t most_patches(std::int64_t length) const override { return (length + 1) / 2; }

 private:
  mutable Tensor spacelike_;  // [V] bool, on the device of the last text: recorded steps copy nothing to a GPU
};

}  // namespace

std::unique_ptr<PatchBoundaries> spacelike_boundaries(const PatchSetting& /*setting*/) {
  return std::make_unique<SpacelikeBoundaries>();
}

}  // namespace xlm
