// Options of the skeleton: a model that predicts the next token from the last few. Copy it to begin a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/api/model_options.h"

namespace xlm {

struct SkeletonOptions {
  static constexpr std::string_view kType = "skeleton";  // `model.type` in a configuration
  static constexpr TextScheme kScheme = TextScheme::kRotatedChunks;
  static constexpr std::string_view kSummary = "one layer over the last few tokens: a model to copy";

  std::int64_t width = 64;
  std::int64_t context = 4;

  void visit(OptionVisitor& v);
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);
  std::optional<OptionProblem> problem() const;
  static std::vector<SkeletonOptions> smallest();
};

}  // namespace xlm
