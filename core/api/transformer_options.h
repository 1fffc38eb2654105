// Options of the plain transformer: today's baseline.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/api/block_options.h"
#include "core/api/model_options.h"

namespace xlm {

struct TransformerOptions : WithDerivedOptions, WithTrainingRules, WithEvaluationRules, WithForeignWeights {
  static constexpr std::string_view kType = "transformer";
  static constexpr TextScheme kScheme = TextScheme::kRandomWindows;
  static constexpr std::string_view kForeignType = "llama";
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

  void complete(TrainOptions& train);

  std::optional<OptionProblem> problem() const { return block.problem_at(width); }
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const;
  std::optional<OptionProblem> problem_with(const EvalOptions& eval) const;

  /// Hugging Face's configuration of this model as a Llama, without its number of symbols; nullopt if it is none.
  std::optional<Json> llama_config() const;
  /// As WithForeignWeights describes. Sizes that the tensors show are left to them.
  void check_foreign(const Json& config, const std::string& source) const;

  static std::vector<TransformerOptions> smallest();
};

/// What is wrong with windows of more `units` than the model has `positions`; 0: any number.
std::optional<OptionProblem> too_few_positions(std::int64_t positions, std::string_view units,
                                               const TrainOptions& train);
std::optional<OptionProblem> too_few_positions(std::int64_t positions, std::string_view units, const EvalOptions& eval);

}  // namespace xlm
