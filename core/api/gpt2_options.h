// Options of GPT-2 and of what is added to it: the recurrence (Radford et al. 2019; Yoshida et al. 2020) or a memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/api/model_options.h"

namespace xlm {

struct RecurrenceOptions {
  enum class Pool { kNone, kMean, kMax, kAttention };
  static constexpr std::array<std::string_view, 4> kPoolNames{"none", "mean", "max", "attention"};

  Pool pool = Pool::kNone;
  std::int64_t insert_layer = 2;
  std::vector<std::int64_t> hidden{200, 200, 200};
  std::int64_t embeddings = 1;
  bool pool_repeated = true;

  void visit(OptionVisitor& v);
};

/// What a window of GPT-2 keeps for the windows after it, in place of a pooled state: keys and values, or memory tokens
/// (Dai et al. 2019; Bulatov et al. 2022).
struct WindowMemoryOptions {
  enum class Type { kNone, kCache, kTokens };
  static constexpr std::array<std::string_view, 3> kTypeNames{"none", "cache", "tokens"};

  Type type = Type::kNone;
  std::int64_t windows = 0;
  std::int64_t tokens = 0;
  bool detach = false;

  /// Lists them as `memory`, `memory_windows`, `memory_tokens`, `memory_detach`.
  void visit(OptionVisitor& v);

  bool caches() const { return type == Type::kCache; }
  bool has_tokens() const { return type == Type::kTokens; }

  /// Fills in the number that the type uses, if it is 0. The other one stays: it may not change run ids.
  void complete();
};

struct Gpt2Options : FromPretrained, WithForeignWeights, WithWindows, WithDerivedOptions, WithTrainingRules {
  /// By Hugging Face's names. The first one is GPT-2's own.
  enum class Activation { kGeluNew, kGelu, kRelu, kSilu };
  static constexpr std::array<std::string_view, 4> kActivationNames{"gelu_new", "gelu", "relu", "silu"};
  /// The divisor of the products of queries and keys: √d, √d times the layer's number, none, or that number.
  enum class AttentionScale { kWidth, kWidthAndLayer, kNone, kLayer };
  static constexpr std::array<std::string_view, 4> kAttentionScaleNames{"width", "width_and_layer", "none", "layer"};

  static constexpr std::string_view kType = "gpt2";
  static constexpr std::string_view kForeignType = "gpt2";
  static constexpr TextScheme kScheme = TextScheme::kWindows;
  static constexpr std::string_view kSummary =
      "GPT-2, alone or with recurrence from window to window (Radford et al. 2019; Yoshida et al. 2020)";

  std::string pretrained;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t layers = 0;
  std::int64_t feed_forward = 0;
  std::int64_t positions = 0;
  bool tied = true;
  double norm_epsilon = 1e-5;
  Activation activation = Activation::kGeluNew;
  AttentionScale attention_scale = AttentionScale::kWidth;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  std::int64_t window = 0;
  std::int64_t overlap = 0;
  std::int64_t windows = 20;
  RecurrenceOptions recurrence;
  WindowMemoryOptions memory;

  void visit(OptionVisitor& v);

  /// The paper's settings besides the model (Yoshida et al. 2020, §5); learning rate and batch are not printed.
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);

  /// Whether a window passes on its pooled hidden states.
  bool pools() const { return recurrence.pool != RecurrenceOptions::Pool::kNone; }
  bool recurrent() const { return pools() || memory.type != WindowMemoryOptions::Type::kNone; }

  /// As FromPretrained describes; the config.json is Hugging Face's.
  void adopt(const Json& config, const std::string& source);

  /// As WithForeignWeights describes. Sizes that the tensors show are left to them.
  void check_foreign(const Json& config, const std::string& source) const;

  void complete();
  void complete(TrainOptions& train);

  std::optional<OptionProblem> problem() const;
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const;

  static std::vector<Gpt2Options> smallest();
};

}  // namespace xlm
