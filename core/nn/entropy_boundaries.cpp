// Patches that begin where a small model of bytes, which was trained before, is unsure of the byte (Pagnoni et al.
// 2024, §2.3). Its weights are a part of this model, and stay as they are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/kernels/linear.h"
#include "core/nn/boundary_predictor.h"
#include "core/nn/initial_weights.h"
#include "core/nn/patches.h"
#include "core/nn/transformer_block.h"

namespace xlm {
namespace {

using torch::Tensor;
using Rule = PatchBoundaryOptions::Rule;

constexpr std::int64_t kRowsAtOnce = 4;  // of the text that says which threshold
constexpr double kFirstThreshold = 0.9;  // of the entropy of guessing, until a text has said which

/// The transformer of core/models/transformer.cpp, for whole windows, with its names of weights.
class SmallModel {
 public:
  explicit SmallModel(const PatchSetting& setting) : block_(*setting.block) {
    const std::int64_t width = setting.options->width;
    const double deviation = block_.weights == BlockOptions::Weights::kSimple ? 1 : 0.02;
    const DeclareParameter declare = [&](const std::string& name, Tensor initial) {
      return (*setting.declare)(kInnerModel + name, std::move(initial));
    };
    embedding_ = declare("model.embed_tokens.weight", normal_weights({setting.symbols, width}, deviation));
    beginning_ = declare("model.embed_beginning.weight", normal_weights({width}, deviation));
    if (setting.positions > 0) {
      positions_ = declare("model.embed_positions.weight", normal_weights({setting.positions, width}, deviation));
    }
    for (std::int64_t i = 0; i < setting.options->layers; ++i) {
      blocks_.emplace_back(declare, fmt::format("model.layers.{}.", i), block_, width,
                           block_.default_feed_forward(width), setting.window, setting.options->layers);
    }
    norm_ = declare("model.norm.weight", torch::ones({width}));
    head_ =
        declare("lm_head.weight", normal_weights({setting.symbols, width}, matrix_deviation(block_, width, false, 1)));
  }

  /// The entropy, in bits, of the prediction behind each byte: [B, T].
  Tensor entropies(const PatchText& text) const {
    const std::int64_t length = text.tokens.size(1);
    Tensor hidden = torch::embedding(embedding_, text.tokens);  // [B, T, w]
    hidden = torch::where(text.beginnings.unsqueeze(-1), beginning_, hidden);
    if (positions_.defined()) hidden = hidden + positions_.narrow(0, 0, length);
    const auto rotation = rotation_of(block_, 0, length, hidden);
    hidden = forward_blocks(blocks_, hidden, rotation, length, false);
    const Tensor logits = linear_layer(block_norm(block_, hidden, norm_), head_, {});  // [B, T, V]
    return predictive_entropy(logits) / std::numbers::ln2;
  }

  double multiply_adds() const {
    auto sum = static_cast<double>(head_.numel());
    for (const TransformerBlock& block : blocks_) sum += block.multiply_adds(static_cast<double>(block.window()));
    return sum;
  }

  std::int64_t symbols() const { return head_.size(0); }

 private:
  BlockOptions block_;
  Tensor embedding_, beginning_, positions_;  // [V, w], [w], [positions, w] or undefined
  std::vector<TransformerBlock> blocks_;
  Tensor norm_, head_;  // [w], [V, w]
};

class EntropyBoundaries final : public PatchBoundaries {
 public:
  explicit EntropyBoundaries(const PatchSetting& setting)
      : wanted_(setting.options->factor), rule_(setting.options->rule), model_(setting) {
    const double guessing = rule_ == Rule::kGlobal ? std::log2(static_cast<double>(model_.symbols())) : 0;
    threshold_ = (*setting.declare)(std::string(kPatchBoundaries) + "threshold",
                                    torch::full({1}, kFirstThreshold * guessing, torch::kFloat));
  }

  PatchStarts find(const PatchText& text) const override {
    const torch::NoGradGuard no_grad;
    return {.begins = (surprise(text) > threshold_).logical_or(text.beginnings)};
  }

  double multiply_adds() const override { return model_.multiply_adds(); }

  /// The threshold that as many bytes exceed as there are patches of the wanted length. Beginnings begin patches, too.
  std::string fit(const PatchText& text) override {
    const torch::NoGradGuard no_grad;
    const Tensor surprises = surprise_by_rows(text);
    const Tensor sorted = std::get<0>(surprises.masked_select(text.beginnings.logical_not()).sort(0, true));
    const std::int64_t beginnings = text.beginnings.sum().item<std::int64_t>();
    const std::int64_t patches = std::max<std::int64_t>(1, text.tokens.numel() / wanted_ - beginnings);
    threshold_.fill_(sorted[std::min(patches, sorted.size(0) - 1)].item<double>());
    const auto begun = (surprises > threshold_).logical_or(text.beginnings).sum().item<double>();
    return fmt::format("patches begin {} {:.4f} bits: {:.2f} bytes each on validation",
                       rule_ == Rule::kGlobal ? "above" : "where the entropy rises by more than",
                       threshold_.item<double>(), static_cast<double>(text.tokens.numel()) / begun);
  }

 private:
  /// What is compared with the threshold: the entropy of the prediction of each byte, by those before it, or how much
  /// more it is than that of the byte before. −∞ for bytes that have none: [B, T].
  Tensor surprise(const PatchText& text) const {
    const Tensor behind = model_.entropies(text);  // [B, T], each of the byte after it
    const std::int64_t length = behind.size(1);
    const auto of_last_bytes = [&](const Tensor& x) {
      return torch::constant_pad_nd(x, {length - x.size(1), 0}, -std::numeric_limits<double>::infinity());
    };
    if (rule_ == Rule::kGlobal) return of_last_bytes(behind.narrow(1, 0, length - 1));
    const std::int64_t compared = std::max<std::int64_t>(0, length - 2);
    return of_last_bytes(behind.narrow(1, 1, compared) - behind.narrow(1, 0, compared));
  }

  /// The same, of a text whose logits would take much memory at once.
  Tensor surprise_by_rows(const PatchText& text) const {
    std::vector<Tensor> parts;
    for (std::int64_t row = 0; row < text.tokens.size(0); row += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, text.tokens.size(0) - row);
      parts.push_back(
          surprise({.tokens = text.tokens.narrow(0, row, count), .beginnings = text.beginnings.narrow(0, row, count)}));
    }
    return torch::cat(parts);
  }

  std::int64_t wanted_;  // bytes of a patch
  Rule rule_;
  SmallModel model_;
  Tensor threshold_;  // [1], in bits
};

}  // namespace

std::unique_ptr<PatchBoundaries> entropy_boundaries(const PatchSetting& setting) {
  return std::make_unique<EntropyBoundaries>(setting);
}

}  // namespace xlm
