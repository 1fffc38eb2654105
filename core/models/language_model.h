// What a model is to the trainer and the evaluator, which know none by name.
//
// B batch, T tokens of a row in one call, V vocabulary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/interface.h"
#include "core/kernels/cross_entropy.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// What a model carries from one block of a stream to the next; every tensor is [B, …].
using State = std::vector<torch::Tensor>;

/// The rows [begin, begin + count) of a state.
State state_rows(const State& state, std::int64_t begin, std::int64_t count);
/// States of consecutive rows put together again.
State concatenate_states(const std::vector<State>& parts);

/// What a model sees in one call. A model takes what it needs; only the tokens are always there.
struct ModelInput {
  torch::Tensor tokens;      // [B, T] int64
  torch::Tensor positions;   // [B, T] int64, place of each token in its row of the text; undefined: 0 … T − 1
  torch::Tensor boundaries;  // [B, T] bool, flags that lie beside the text; undefined: there are none
  std::int64_t scored = 0;   // only the last so many tokens' predictions are asked for; 0: all
  bool traced = false;       // token_values are asked for

  /// The rows [begin, begin + count).
  ModelInput rows(std::int64_t begin, std::int64_t count) const;
  ModelInput to(torch::Device device) const;
};

/// The linear layer that makes logits of hidden states.
struct Head {
  torch::Tensor weight;  // [V, k]; undefined: the hidden states are the logits
  torch::Tensor bias;    // [V] or undefined
};

struct ModelOutput {
  torch::Tensor hidden;  // [B, T, k], what the head predicts the token after each of; of the scored tokens alone
  Head head;
  torch::Tensor auxiliary_loss;  // scalar to add to the training loss; undefined when there is none
  State state;                   // for the next block, detached; for the next window, with its gradient
  NamedValues statistics;        // of this call (averages over it), such as a shortening factor
  std::map<std::string, torch::Tensor> token_values;  // what is said of single tokens, by name: [B, T]

  /// The predictions themselves, [B, T, V], made at each call.
  torch::Tensor logits() const;
  /// Their summed cross-entropy against targets [B, T], in nats, in double precision; targets of kNoTarget do not
  /// count. Where there are many symbols, without ever holding all logits.
  torch::Tensor summed_loss(const torch::Tensor& targets) const;
};

/// Windows of T tokens; each repeats the last O tokens of the one before and scores its last T − O predictions, the
/// first all (docs/models.md#windows-and-overlap).
struct WindowShape {
  std::int64_t window = 0;
  std::int64_t overlap = 0;
};

/// A text that grows at its end, read by a model that need not read it anew for every token.
class TextReader {
 public:
  virtual ~TextReader() = default;
  /// Reads the [n] tokens that follow, n ≥ 1; the logits [V] of the token after them.
  virtual torch::Tensor read(const torch::Tensor& tokens) = 0;
};

/// A language model. Parameters are registered under the names of the published code (docs/models.md).
class LanguageModel : public torch::nn::Module {
 public:
  /// How the training text is fed, and how a split is evaluated.
  enum class Scheme {
    kStreaming,      // rows of contiguous text, state carried from block to block
    kRotatedChunks,  // chunks of rotated rows in shuffled order, no state; evaluated with a window of context
    kWindows,        // windows that overlap, within documents; state, where there is any, from window to window
  };

  /// `state` from initial_state or the call before. Token t's logits see tokens ≤ t only. Throws DataError where the
  /// model needs something beside the tokens that is not there.
  virtual ModelOutput forward(const ModelInput& input, const State& state) = 0;
  /// Tokens [B, T] alone.
  ModelOutput forward(const torch::Tensor& tokens, const State& state) {
    return forward(ModelInput{.tokens = tokens, .positions = {}, .boundaries = {}}, state);
  }

  /// The state at the start of a stream.
  virtual State initial_state(std::int64_t batch) const = 0;

  /// What the symbols are, before the first call on real text. Throws UsageError for a vocabulary that the model's
  /// options cannot work with.
  virtual void set_vocabulary(const Vocabulary& vocabulary) { (void)vocabulary; }

  /// The tokenizer whose segmentation of the text the model wants as ModelInput::boundaries; empty: none.
  virtual std::string tokenizer() const { return {}; }

  /// Where the groups end that the model pools tokens into: [B, T] bool; undefined for a model without groups.
  virtual torch::Tensor boundaries(const ModelInput& input) {
    (void)input;
    return {};
  }

  /// Which operations a training step makes, beside what the sizes of its arguments decide; nothing where values that
  /// are read from the device decide. Steps of the same operations can be recorded and replayed.
  virtual std::optional<std::string> graph_signature() const { return std::nullopt; }

  /// After every update: constraints on parameters, such as spans kept in [0, 1].
  virtual void after_step() {}

  /// Statistics that follow from the parameters and the calls since the last reset: average_span, max_span, ….
  virtual NamedValues statistics() const { return {}; }
  virtual void reset_statistics() {}
  virtual std::vector<Grid> grids() const { return {}; }

  /// Whether forward fills token_values where they are asked for.
  virtual bool has_token_values() const { return false; }

  /// params, flops_per_token (two per multiply-add) in blocks of `block` tokens and, where the paper has its own count,
  /// paper_flops.
  virtual NamedValues costs(std::int64_t block) const = 0;

  virtual Scheme scheme() const { return Scheme::kStreaming; }

  /// kWindows: how the text is cut. One call of `forward` is one window; without an initial state, windows are
  /// independent of each other.
  virtual WindowShape windows() const { return {}; }

  /// A way of reading that keeps what it has computed; null: there is none but calling `forward`.
  virtual std::unique_ptr<TextReader> reader() { return nullptr; }

  /// Whether training may start from weights that lack this parameter, because it is what they are to be extended by.
  virtual bool is_addition(const std::string& name) const { return (void)name, false; }

  /// The parameter that a tensor of this name, no parameter itself, repeats in files of other programs; "": none.
  virtual std::string repeated_parameter(const std::string& name) const { return (void)name, ""; }

  /// What other programs want to find beside the weights: contents by file name.
  virtual std::map<std::string, std::string> companion_files() const { return {}; }

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

/// The same for a known vocabulary. Throws UsageError also where the model cannot work with it.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, const Vocabulary& vocabulary);

/// Whether every parameter must be there, or additions (LanguageModel::is_addition) may keep the values they have.
enum class Missing { kNone, kAdditions };

/// Loads model.safetensors-style weights by name, as docs/models.md says: known buffers and prefixes are ignored.
/// Throws DataError naming `source` and the tensor that is missing, unknown or wrongly shaped.
void load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                  const std::string& source, Missing allowed = Missing::kNone);

}  // namespace xlm
