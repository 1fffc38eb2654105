// The skeleton of a model: the joined embeddings of the last C tokens, one layer, and the logits.
//
// B rows, T tokens, P scored tokens, C context, D width, V symbols.
#include <cmath>

#include "core/api/skeleton_options.h"
#include "core/kernels/linear.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

class Skeleton final : public LanguageModel {
 public:
  Skeleton(const SkeletonOptions& options, std::int64_t symbols);

  ModelOutput forward(const ModelInput& input, const State& state) override;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  TextScheme scheme() const override { return SkeletonOptions::kScheme; }
  NamedValues costs(std::int64_t block) const override;

 private:
  SkeletonOptions o_;
  torch::Tensor embedding_, layer_, bias_, head_;  // [V, D], [D, D·C], [D], [V, D]
};

torch::Tensor random_weight(std::int64_t rows, std::int64_t columns) {
  return torch::randn({rows, columns}) / std::sqrt(static_cast<double>(columns));
}

Skeleton::Skeleton(const SkeletonOptions& options, std::int64_t symbols) : o_(options) {
  embedding_ = parameter("embedding.weight", torch::randn({symbols, o_.width}));
  layer_ = parameter("layer.weight", random_weight(o_.width, o_.width * o_.context));
  bias_ = parameter("layer.bias", torch::zeros({o_.width}));
  head_ = parameter("head.weight", random_weight(symbols, o_.width));
}

// A prediction may only depend on its own token and earlier ones. The tests check that.
ModelOutput Skeleton::forward(const ModelInput& input, const State& /*state*/) {
  const std::int64_t length = input.tokens.size(1);
  const std::int64_t scored = input.scored > 0 ? input.scored : length;
  const torch::Tensor embedded = torch::embedding(embedding_, input.tokens);                      // [B, T, D]
  const torch::Tensor padded = torch::constant_pad_nd(embedded, {0, 0, o_.context - 1, 0});       // [B, C − 1 + T, D]
  const torch::Tensor seen = padded.unfold(1, o_.context, 1).narrow(1, length - scored, scored);  // [B, P, D, C]
  ModelOutput output;
  output.hidden = torch::gelu(linear_layer(seen.flatten(2), layer_, bias_));  // [B, P, D]
  output.head = {.weight = head_};
  return output;
}

// Two FLOPs per multiply-add.
NamedValues Skeleton::costs(std::int64_t /*block*/) const {
  const auto multiply_adds = static_cast<double>(layer_.numel() + head_.numel());
  return {{"params", static_cast<double>(parameter_count())}, {"flops_per_token", 2 * multiply_adds}};
}

}  // namespace

std::shared_ptr<LanguageModel> make_skeleton(const ModelOptions& options, std::int64_t symbols) {
  return std::make_shared<Skeleton>(options.get<SkeletonOptions>(), symbols);
}

}  // namespace xlm
