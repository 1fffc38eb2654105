// Options of the plain transformer.
#include "core/api/transformer_options.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

void TransformerOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width k", .min = 1, .max = 65536}, width);
  v.field({.name = "layers", .help = "layers L", .min = 1, .max = 1000}, layers);
  v.field({.name = "feed_forward",
           .help = "units of the feed-forward; 0: 4 times the width, of swiglu 8/3 times it in whole 64s",
           .min = 0,
           .max = 1 << 20},
          feed_forward);
  v.field({.name = "positions",
           .help = "learnt positions, added to the embeddings: the longest window; 0: none",
           .min = 0,
           .max = 1e7},
          positions);
  v.field({.name = "tied", .help = "one matrix for embedding and output"}, tied);
  block.visit(v);
}

void TransformerOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdamW,
               .lr = 1e-3,
               .schedule = OptimizerOptions::Schedule::kCosine,
               .clip_norm = 1,
               .beta2 = 0.95,
               .weight_decay = 0.1,
               .decay = OptimizerOptions::Decay::kMatrices,
               .warmup_ratio = 0.01,
               .min_lr_ratio = 0.1};
  train.batch = 64;
  train.block = 1024;
  eval = {.batch = 8, .context = 1024, .stride = 1024};
}

void TransformerOptions::complete(TrainOptions& /*train*/) {
  if (feed_forward == 0) feed_forward = block.default_feed_forward(width);
}

std::optional<OptionProblem> too_few_positions(std::int64_t positions, std::string_view units,
                                               const TrainOptions& train) {
  if (positions == 0 || train.block <= positions) return std::nullopt;
  return {{"positions", fmt::format("model.positions ({}) are fewer than the {} of a window (train.block={})",
                                    positions, units, train.block)}};
}

std::optional<OptionProblem> too_few_positions(std::int64_t positions, std::string_view units,
                                               const EvalOptions& eval) {
  if (positions == 0 || eval.context <= positions) return std::nullopt;
  return {{"positions",
           fmt::format("model.positions ({}) are fewer than the {} of a window in evaluations (eval.context={})\n"
                       "give eval.context and eval.stride, or more positions",
                       positions, units, eval.context)}};
}

std::optional<OptionProblem> TransformerOptions::problem_with(const TrainOptions& train) const {
  return too_few_positions(positions, "tokens", train);
}

std::optional<OptionProblem> TransformerOptions::problem_with(const EvalOptions& eval) const {
  return too_few_positions(positions, "tokens", eval);
}

std::optional<Json> TransformerOptions::llama_config() const {
  const bool windowed = std::ranges::any_of(block.windows, [](std::int64_t w) { return w > 0; });
  if (block.norm != BlockOptions::Norm::kRms || block.rotary != BlockOptions::Rotary::kHalves || block.qk_norm ||
      block.activation != BlockOptions::Activation::kSwiglu || positions > 0 || windowed ||
      (tied && block.weights == BlockOptions::Weights::kSimple)) {
    return std::nullopt;
  }
  const std::int64_t heads = width / block.head_width;
  return Json{{"architectures", {"LlamaForCausalLM"}},
              {"model_type", kForeignType},
              {"hidden_size", width},
              {"intermediate_size", feed_forward},
              {"num_hidden_layers", layers},
              {"num_attention_heads", heads},
              {"num_key_value_heads", block.key_value_heads > 0 ? block.key_value_heads : heads},
              {"head_dim", block.head_width},
              {"hidden_act", "silu"},
              {"rms_norm_eps", block.epsilon()},
              {"rope_theta", block.rope_theta},
              {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", block.rope_theta}}},
              {"attention_bias", false},
              {"mlp_bias", false},
              {"tie_word_embeddings", tied},
              {"torch_dtype", "float32"}};
}

void TransformerOptions::check_foreign(const Json& config, const std::string& source) const {
  const std::optional<Json> own = llama_config();
  if (!own) {
    throw DataError(source +
                    " is a Llama's, and this run's model is none\na Llama has model.norm=rms model.rotary=halves "
                    "model.activation=swiglu, and no windows, learnt positions or qk_norm");
  }
  const auto given = [](const Json& map, const char* key, const Json& otherwise) {
    const Json value = map.is_object() ? map.value(key, Json()) : Json();
    return value.is_null() ? otherwise : value;
  };
  const auto compare = [&](const char* key, const Json& there) {
    if (there == own->at(key)) return;
    throw DataError(source + ": '" + key + "' is " + there.dump() + ", and this run's model has " +
                    own->at(key).dump());
  };
  for (const char* key : {"quantization_config", "auto_map"}) {
    if (!given(config, key, Json()).empty()) {
      throw DataError(source + ": it has '" + key + "', and such models are not supported");
    }
  }
  // A missing key has Hugging Face's default.
  compare("hidden_size", given(config, "hidden_size", 4096));
  compare("intermediate_size", given(config, "intermediate_size", 11'008));
  compare("num_hidden_layers", given(config, "num_hidden_layers", 32));
  const Json heads = given(config, "num_attention_heads", 32);
  compare("num_attention_heads", heads);
  compare("num_key_value_heads", given(config, "num_key_value_heads", heads));
  compare("head_dim", given(config, "head_dim", width / heads.get<std::int64_t>()));
  compare("hidden_act", given(config, "hidden_act", "silu"));
  compare("rms_norm_eps", given(config, "rms_norm_eps", 1e-6));
  compare("attention_bias", given(config, "attention_bias", false));
  compare("mlp_bias", given(config, "mlp_bias", false));
  compare("tie_word_embeddings", given(config, "tie_word_embeddings", false));
  const Json rope = given(config, "rope_parameters", given(config, "rope_scaling", Json::object()));
  compare("rope_theta", given(rope, "rope_theta", given(config, "rope_theta", 10'000)));
  if (const Json part = given(rope, "partial_rotary_factor", given(config, "partial_rotary_factor", 1)); part != 1) {
    throw DataError(source + ": its partial_rotary_factor is " + part.dump() + "; only 1 is supported");
  }
  if (const Json kind = given(rope, "rope_type", given(rope, "type", "default")); kind != "default") {
    throw DataError(source + ": its rope_type is " + kind.dump() + "; only \"default\" is supported");
  }
}

std::vector<TransformerOptions> TransformerOptions::smallest() {
  TransformerOptions small{.width = 16, .layers = 2, .positions = 0};
  small.block.head_width = 8;
  std::vector<TransformerOptions> all{small};
  TransformerOptions other = small;
  other.positions = 64;
  other.tied = true;
  other.block.norm = BlockOptions::Norm::kLayer;
  other.block.qk_norm = true;
  other.block.weights = BlockOptions::Weights::kSimple;
  other.block.activation = BlockOptions::Activation::kRelu;
  other.block.windows = {6, 0};
  all.push_back(other);
  other = small;
  other.block.rotary = BlockOptions::Rotary::kHalves;
  other.block.key_value_heads = 1;
  other.block.activation = BlockOptions::Activation::kGelu;
  all.push_back(other);
  other.block.rotary = BlockOptions::Rotary::kNone;
  other.block.activation = BlockOptions::Activation::kRelu2;
  other.block.windows = {5};
  all.push_back(other);
  return all;
}

ModelOptions transformer_options() { return TransformerOptions{}; }

}  // namespace xlm
