// Patches of bytes: where they begin, and how vectors go from bytes to patches and back. A kind of boundaries is one
// file, NAME_boundaries.cpp, and one line in core/api/patch_boundaries.def.
//
// B batch, T bytes of a row, G most patches of a row, d width of bytes, D ≥ d width of patches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/byte_patches_options.h"
#include "core/nn/initial_weights.h"

namespace xlm {

/// What boundaries may depend on. A kind looks only at a byte and those before it.
struct PatchText {
  torch::Tensor tokens;        // [B, T] int64; any symbol at a beginning
  torch::Tensor beginnings;    // [B, T] bool: the token is the beginning in front of a text
  torch::Tensor positions;     // [B, T] int64, the position of each byte in its text; undefined: 0 … T − 1
  torch::Tensor hidden;        // [B, T, d], behind the first local blocks
  torch::Tensor segmentation;  // [B, T] bool, of the text, for kinds that learn from one; undefined: none
};

struct PatchStarts {
  torch::Tensor begins;         // [B, T] bool: a patch begins at this byte
  torch::Tensor probabilities;  // [B, T], of kinds that compute them, with their gradient; otherwise undefined
  torch::Tensor logits;         // [B, T], of kinds whose probabilities are the sigmoids of these; otherwise undefined
};

/// The places of the first G patches of each row.
struct PatchPlaces {
  std::int64_t count = 0;  // G
  torch::Tensor places;    // [B, G] int64: the byte at which a patch begins; T if there is no such patch
  torch::Tensor patch;     // [B, T] int64: the patch that begins at a byte; G if none begins or it has no place
  torch::Tensor begun;     // [B, T] int64: patches with a place that begin at or before a byte
  torch::Tensor left_out;  // [B, T] bool: a patch without a place begins at or before this byte
};

/// Sizes do not depend on `begins`, and nothing is read back from the device.
PatchPlaces find_places(const torch::Tensor& begins, std::int64_t count);

class PatchBoundaries {
 public:
  virtual ~PatchBoundaries() = default;

  /// The symbols of the tokens, by id. Returns what is wrong with them, or nullopt.
  virtual std::optional<std::string> set_symbols(const std::vector<std::string>& /*symbols*/) { return std::nullopt; }

  /// Where patches begin. Every beginning of a text begins one. Called without autocast, as `up` and `down` are.
  virtual PatchStarts find(const PatchText& text) const = 0;
  /// The most patches that a row of so many bytes can have.
  virtual std::int64_t most_patches(std::int64_t length) const { return length; }

  /// What is handed up: [B, T, d] → [B, G, D]. Here the vectors at the places, behind D − d zeros.
  virtual torch::Tensor up(const torch::Tensor& hidden, const PatchPlaces& places, std::int64_t width) const;
  /// What comes down: the bytes' vectors behind the global blocks, of those before, [B, T, d], and of the patches,
  /// [B, G, D]. Here the last d numbers of each patch are added at its place.
  virtual torch::Tensor down(const torch::Tensor& hidden, const torch::Tensor& patches, const PatchPlaces& places,
                             const PatchStarts& starts) const;

  /// A scalar that is added to the training loss, a mean over rows; undefined: none.
  virtual torch::Tensor loss(const PatchText& /*text*/, const PatchStarts& /*starts*/) const { return {}; }
  /// Multiply-adds of all of this for one byte.
  virtual double multiply_adds() const { return 0; }

  /// Chooses numbers that follow from a text [N, T] and a mean length of patches. Returns what it chose, in words; ""
  /// if there is nothing to choose.
  virtual std::string fit(const PatchText& /*text*/) { return ""; }
};

/// What a kind is made from, while it is made. It may declare parameters, below kPatchBoundaries.
struct PatchSetting {
  const PatchBoundaryOptions* options;
  const DeclareParameter* declare;
  std::int64_t local_width;             // d
  std::int64_t width;                   // D
  std::int64_t local_feed_forward = 0;  // units of a local block's feed-forward
  // Of a small model of bytes:
  const BlockOptions* block = nullptr;
  std::int64_t symbols = 0;    // V
  std::int64_t positions = 0;  // learnt ones; 0: none
  std::int64_t window = 0;     // keys that a query sees
};

inline constexpr const char* kPatchBoundaries = "model.boundaries.";
/// Weights below it are those of a model that was trained before, without this in their names. They have no gradient.
inline constexpr const char* kInnerModel = "model.boundaries.model.";

std::unique_ptr<PatchBoundaries> make_patch_boundaries(const PatchSetting& setting);

}  // namespace xlm
