// Options of transformer blocks.
#include "core/api/block_options.h"

namespace xlm {

void BlockOptions::visit(OptionVisitor& v) {
  v.field({.name = "norm",
           .help = "norm before attention, feed-forward and logits: root mean square (rms), or layer norm "
                   "without bias"},
          norm, kNormNames);
  v.field({.name = "qk_norm", .help = "the same norm of each head's queries and keys"}, qk_norm);
  v.field({.name = "head_width", .help = "width d of a head", .min = 1, .max = 4096}, head_width);
  v.field({.name = "key_value_heads",
           .help = "heads that keys and values have, shared by groups of query heads; 0: one for each query head",
           .min = 0,
           .max = 4096},
          key_value_heads);
  v.field({.name = "windows",
           .help = "keys that a query sees, its own included, by layer; repeated over the layers; 0: all before it",
           .min = 0,
           .max = 1e7},
          windows);
  v.field({.name = "rotary",
           .help = "pairs of a head's numbers that turn with the position: neighbours, halves (as Llama), or none"},
          rotary, kRotaryNames);
  v.field({.name = "rope_theta", .help = "θ of the rotations", .min = 1, .max = 1e12}, rope_theta);
  v.field(
      {.name = "activation", .help = "swiglu (two matrices into the feed-forward), gelu (tanh), relu, or its square"},
      activation, kActivationNames);
  v.field({.name = "weights",
           .help = "initial weights: gpt: N(0, 0.02), smaller for what layers add; simple: N(0, 1/d_in), and each "
                   "matrix learns at optimizer.lr/√d_in"},
          weights, kWeightsNames);
  dropout_field(v, "dropout", "dropout of embeddings and of what each layer adds", dropout);
  v.field({.name = "norm_epsilon",
           .help = "ε that norms add to the mean square; 0: 1e-5, which Llama 2 has, too (Llama 1 has 1e-6)",
           .min = 0,
           .max = 1,
           .later = true},
          norm_epsilon);
}

std::int64_t BlockOptions::default_feed_forward(std::int64_t width) const {
  return activation == Activation::kSwiglu ? (8 * width / 3 + 63) / 64 * 64 : 4 * width;
}

std::optional<std::pair<std::string, std::string>> BlockOptions::problem_at(std::int64_t width) const {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (width % head_width != 0) {
    return {{"head_width",
             "model.width (" + text(width) + ") must be a multiple of model.head_width (" + text(head_width) + ")"}};
  }
  const std::int64_t heads = width / head_width;
  if (key_value_heads > 0 && heads % key_value_heads != 0) {
    return {{"key_value_heads", "the " + text(heads) +
                                    " heads of a layer must be a multiple of model.key_value_heads (" +
                                    text(key_value_heads) + ")"}};
  }
  if (rotary != Rotary::kNone && head_width % 2 != 0) {
    return {{"head_width", "model.head_width (" + text(head_width) + ") must be even for model.rotary"}};
  }
  if (windows.empty()) return {{"windows", "model.windows is empty; 0 is a layer without a window"}};
  return std::nullopt;
}

}  // namespace xlm
