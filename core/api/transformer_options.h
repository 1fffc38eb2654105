// Options of the plain transformer: today's baseline.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/api/block_options.h"
#include "core/api/model_options.h"

namespace xlm {

struct TransformerOptions : WithDerivedOptions, WithTrainingRules, WithEvaluationRules {
  static constexpr std::string_view kType = "transformer";
  static constexpr TextScheme kScheme = TextScheme::kRandomWindows;
  static constexpr std::string_view kSummary =
      "plain transformer as of today: norms in front, rotary positions, SwiGLU, windows by layer";

  std::int64_t width = 512;
  std::int64_t layers = 8;
  std::int64_t feed_forward = 0;
  std::int64_t positions = 0;
  bool tied = false;
  BlockOptions block;

  void visit(OptionVisitor& v);

  /// Settings of common practice besides the model; no paper prints them.
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);

  /// Fills in the options that are 0.
  void complete(TrainOptions& train);

  std::optional<OptionProblem> problem() const { return block.problem_at(width); }
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const;
  std::optional<OptionProblem> problem_with(const EvalOptions& eval) const;

  /// See OptionsOfAModel.
  static std::vector<TransformerOptions> smallest();
};

}  // namespace xlm
