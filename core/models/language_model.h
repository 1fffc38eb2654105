// What a model is to the trainer and the evaluator, which know none by name.
//
// B batch, T tokens of a row in one call, V vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/interface.h"

namespace xlm {

/// What a model carries from one block of a stream to the next; every tensor is [B, …].
using State = std::vector<torch::Tensor>;

/// The rows [begin, begin + count) of a state.
State state_rows(const State& state, std::int64_t begin, std::int64_t count);
/// States of consecutive rows put together again.
State concatenate_states(const std::vector<State>& parts);

struct ModelOutput {
  torch::Tensor logits;          // [B, T, V], the prediction of the token after each
  torch::Tensor auxiliary_loss;  // scalar to add to the training loss; undefined when there is none
  State state;                   // for the next block, detached
  NamedValues statistics;        // of this call (averages over it), such as a shortening factor
};

/// A language model. Parameters are registered under the names of the published code (docs/models.md).
class LanguageModel : public torch::nn::Module {
 public:
  /// How the training text is fed, and how a split is evaluated.
  enum class Scheme { kStreaming };  // rows of contiguous text, state carried from block to block

  /// `tokens` [B, T] int64, `state` from initial_state or the call before. Token t's logits see tokens ≤ t only.
  virtual ModelOutput forward(const torch::Tensor& tokens, const State& state) = 0;

  /// The state at the start of a stream.
  virtual State initial_state(std::int64_t batch) const = 0;

  /// After every update: constraints on parameters, such as spans kept in [0, 1].
  virtual void after_step() {}

  /// Statistics that follow from the parameters and the calls since the last reset: average_span, max_span, ….
  virtual NamedValues statistics() const { return {}; }
  virtual void reset_statistics() {}
  virtual std::vector<Grid> grids() const { return {}; }

  /// flops_per_token (two per multiply-add) and, where the paper has its own count, paper_flops.
  virtual NamedValues costs() const = 0;

  virtual Scheme scheme() const { return Scheme::kStreaming; }

  /// Each parameter counted once.
  std::int64_t parameter_count() const;

  /// Parameters by name, in the order in which they were declared.
  const std::vector<std::pair<std::string, torch::Tensor>>& weights() const { return weights_; }

 protected:
  /// Declares a parameter under its dotted name.
  torch::Tensor parameter(const std::string& name, torch::Tensor initial);

 private:
  std::vector<std::pair<std::string, torch::Tensor>> weights_;
};

/// A model with random weights from torch's default generator, on the CPU. Throws UsageError for impossible options.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, std::int64_t symbols);

/// Loads model.safetensors-style weights by name, as docs/models.md says: known buffers and prefixes are ignored.
/// Throws DataError naming `source` and the tensor that is missing, unknown or wrongly shaped.
void load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                  const std::string& source);

}  // namespace xlm
