// Options of the model whose middle blocks work on patches of bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/block_options.h"
#include "core/api/model_options.h"
#include "core/api/transformer_options.h"

namespace xlm {

struct PatchBoundaryOptions {
  enum class Type {
#define XLM_PATCH_BOUNDARIES(kind, value, name) kind,
#include "core/api/patch_boundaries.def"
#undef XLM_PATCH_BOUNDARIES
  };
  static constexpr std::array kTypeNames{
#define XLM_PATCH_BOUNDARIES(kind, value, name) std::string_view(value),
#include "core/api/patch_boundaries.def"
#undef XLM_PATCH_BOUNDARIES
  };

  enum class Rule { kGlobal, kMonotone };
  static constexpr std::array<std::string_view, 2> kRuleNames{"global", "monotone"};

  Type type = Type::kSpacelike;
  std::int64_t factor = 6;
  std::string tokenizer;
  double loss_weight = 0;
  std::string model;
  std::int64_t width = 0;
  std::int64_t layers = 0;
  Rule rule = Rule::kGlobal;

  void visit(OptionVisitor& v);

  /// Places that windows of so many bytes get if the options do not say it.
  std::int64_t usual_places(std::int64_t positions) const;
};

struct BytePatchesOptions : WithDerivedOptions, WithTrainingRules, WithEvaluationRules {
  static constexpr std::string_view kType = "byte-patches";
  static constexpr TextScheme kScheme = TextScheme::kRandomWindows;
  static constexpr std::string_view kSummary =
      "transformer over bytes whose wide middle blocks stand only at some bytes, such as the ends of words (SpaceByte; "
      "Slagle 2024)";

  std::int64_t width = 1024;
  std::int64_t layers = 16;
  std::int64_t feed_forward = 0;
  std::int64_t local_width = 0;
  std::int64_t local_layers = 0;
  std::int64_t local_feed_forward = 0;
  std::int64_t local_window = 0;
  bool learnt_positions = true;
  std::int64_t positions = 0;
  std::int64_t places = 0;
  double local_rate = 0;
  PatchBoundaryOptions boundaries;
  BlockOptions block{.norm = BlockOptions::Norm::kLayer,
                     .qk_norm = true,
                     .rotary = BlockOptions::Rotary::kNone,
                     .activation = BlockOptions::Activation::kRelu,
                     .weights = BlockOptions::Weights::kSimple};

  void visit(OptionVisitor& v);

  /// The settings of Slagle 2024 besides the model, as its program has them.
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);

  void complete(TrainOptions& train);

  std::optional<OptionProblem> problem() const;
  /// What is wrong with the options of boundaries.
  std::optional<OptionProblem> problem_of_boundaries() const;
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const;
  std::optional<OptionProblem> problem_with(const EvalOptions& eval) const;

  /// Which option makes `inner` predict otherwise than the small model of entropies that complete options describe, in
  /// words; nullopt if none does. What shapes of weights tell is not compared.
  std::optional<std::string> difference_of_inner(TransformerOptions inner) const;

  /// Local blocks in front of the global ones; the others stand behind them.
  std::int64_t layers_before() const { return local_layers / 2; }

  static std::vector<BytePatchesOptions> smallest();
};

}  // namespace xlm
