// Options of the hourglass with dynamic token pooling (Nawrot et al. 2023).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/api/model_options.h"

namespace xlm {

struct BoundaryOptions {
  enum class Type { kNone, kFixed, kWhitespace, kUnigram, kEntropy, kGumbel };
  static constexpr std::array<std::string_view, 6> kTypeNames{"none",    "fixed",   "whitespace",
                                                              "unigram", "entropy", "gumbel"};
  enum class Loss { kPublished, kLogits, kRange };
  static constexpr std::array<std::string_view, 3> kLossNames{"published", "logits", "range"};

  Type type = Type::kGumbel;
  std::int64_t factor = 2;
  double prior = 0.2;
  double temperature = 0.5;
  std::int64_t window = 2;
  std::string tokenizer;
  Loss loss = Loss::kPublished;
  double prior_sd = 0;
  double range = 0;

  void visit(OptionVisitor& v);

  /// α − λσ of the loss `range`: the smallest share of boundaries that it leaves alone. May be negative.
  double least_share() const { return prior - (range > 0 ? range : 3) * prior_sd; }

  bool predicted() const { return type == Type::kUnigram || type == Type::kEntropy || type == Type::kGumbel; }
};

struct HourglassOptions : WithTrainingRules {
  static constexpr std::string_view kType = "hourglass";
  static constexpr TextScheme kScheme = TextScheme::kRotatedChunks;
  static constexpr std::string_view kSummary =
      "hourglass whose middle layers work on groups of characters with learnt borders (dynamic token pooling; Nawrot "
      "et al. 2023)";

  enum class Pooling { kMean, kSubsample };
  static constexpr std::array<std::string_view, 2> kPoolingNames{"mean", "subsample"};

  std::int64_t width = 512;
  std::int64_t heads = 8;
  std::int64_t feed_forward = 2048;
  std::vector<std::int64_t> layers{2, 8, 2};
  double dropout = 0.1;
  double attention_dropout = 0.1;
  Pooling pooling = Pooling::kMean;
  BoundaryOptions boundaries;

  void visit(OptionVisitor& v);

  /// The paper's settings besides the model (Nawrot et al. 2023, §4.2 and appendix B).
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);

  /// Whether tokens are pooled: three stages, not all layers in the first.
  bool pools() const { return layers.size() == 3 && (layers[1] > 0 || layers[2] > 0); }

  std::optional<OptionProblem> problem() const;

  /// What is wrong with the options for these blocks, as {key, message}.
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const;

  /// What is wrong with the options of the loss `range`.
  std::optional<OptionProblem> problem_of_range() const;

  static std::vector<HourglassOptions> smallest();
};

}  // namespace xlm
