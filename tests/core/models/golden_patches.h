// The small models over patches of bytes whose golden numbers are in tests/golden/byte_patches.json.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.h"
#include "core/api/byte_patches_options.h"
#include "core/models/capabilities.h"
#include "tests/core/models/golden_blocks.h"

namespace xlm {

inline constexpr std::int64_t kPatchesBatch = 3;
inline constexpr std::int64_t kPatchesLength = 29;

inline const Json& golden_patches() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/byte_patches.json");
  return golden;
}

inline BytePatchesOptions patches_options(const Json& variant) {
  BytePatchesOptions options{.width = 16, .layers = 2, .feed_forward = 24, .local_width = 8, .local_layers = 3};
  options.local_feed_forward = 12;
  options.local_window = variant.at("local_window").get<std::int64_t>();
  options.learnt_positions = variant.at("learnt_positions").get<bool>();
  options.positions = 32;
  options.places = variant.at("places").get<std::int64_t>();
  options.boundaries.type =
      named_choice<PatchBoundaryOptions::Type>(variant.at("boundaries"), PatchBoundaryOptions::kTypeNames);
  options.boundaries.factor = 3;
  options.boundaries.tokenizer = "unigram-8";  // of which the test itself has the segmentation
  options.boundaries.loss_weight = variant.at("loss_weight").get<double>();
  options.boundaries.width = 12;
  options.boundaries.layers = 2;
  options.boundaries.rule =
      named_choice<PatchBoundaryOptions::Rule>(variant.at("rule"), PatchBoundaryOptions::kRuleNames);
  options.block = golden_block_options(variant);
  return options;
}

inline Vocabulary some_bytes() {
  Vocabulary vocabulary{.unit = Vocabulary::Unit::kByte, .symbols = {}};
  for (const Json& byte : golden_patches().at("bytes")) {
    vocabulary.symbols.emplace_back(1, static_cast<char>(byte.get<int>()));
  }
  return vocabulary;
}

/// Weights by formula, indexed by the place of the name in alphabetical order; in double.
inline std::shared_ptr<LanguageModel> golden_patches_model(const BytePatchesOptions& options) {
  auto model = make_model(options, some_bytes());
  model->to(torch::kDouble);
  const double threshold = options.boundaries.rule == PatchBoundaryOptions::Rule::kGlobal ? 3.7 : 0.05;
  fill_golden_weights(*model, [&](const std::string& name) -> GoldenScale {
    if (name.ends_with("threshold")) return {.mean = threshold, .scale = 0.01};
    return golden_block_scale(name);
  });
  return model;
}

inline torch::Tensor patches_targets() { return golden_text(kPatchesBatch, kPatchesLength, some_bytes().size()); }

inline torch::Tensor patches_tokens() { return behind_beginnings(patches_targets()); }

/// Ends of pieces; nothing of the beginning.
inline torch::Tensor patches_segmentation() {
  const torch::Tensor tokens = patches_tokens();
  return (tokens.remainder(4) == 1).logical_and(tokens != kBeginning);
}

}  // namespace xlm
