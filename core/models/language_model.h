// The interface of all models. Trainer and evaluator work with it alone and know no model by name.
//
// B rows of a batch, T tokens of a row in one call, k width of the last hidden layer, V symbols of the vocabulary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/interface.h"
#include "core/kernels/cross_entropy.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// What a model keeps from one block, or window, of a text to the next. Every tensor is [B, …].
using State = std::vector<torch::Tensor>;

/// The rows [begin, begin + count) of a state.
State state_rows(const State& state, std::int64_t begin, std::int64_t count);
/// The state of all rows, from the states of consecutive parts of them.
State concatenate_states(const std::vector<State>& parts);

/// What a model is given in one call. Only the tokens are always there; of the rest a model takes what it needs.
struct ModelInput {
  torch::Tensor tokens;       // [B, T] int64
  torch::Tensor positions;    // [B, T] int64, where in its row of the text each token stands; undefined: 0 … T − 1
  torch::Tensor boundaries;   // [B, T] bool, the segmentation that belongs to the text; undefined: there is none
  std::int64_t scored = 0;    // how many predictions are asked for, the last ones of each row; 0: all
  bool traced = false;        // whether ModelOutput::token_values are asked for
  bool heads_traced = false;  // whether ModelOutput::head_values are asked for

  /// The rows [begin, begin + count).
  ModelInput rows(std::int64_t begin, std::int64_t count) const;
  ModelInput to(torch::Device device) const;
};

/// The linear layer that turns hidden states into logits.
struct Head {
  torch::Tensor weight;  // [V, k]; undefined: the hidden states are the logits
  torch::Tensor bias;    // [V] or undefined
};

struct ModelOutput {
  torch::Tensor hidden;  // [B, scored, k], of the scored tokens: from each the head predicts the token after it
  Head head;
  torch::Tensor auxiliary_loss;  // scalar, to be added to the training loss; undefined: none
  State state;                   // for the next block, without gradient, or for the next window, with it
  NamedValues statistics;        // averages over this call, such as a shortening factor
  std::map<std::string, torch::Tensor> token_values;  // numbers for single tokens, by name: [B, scored]
  /// Numbers for single heads, layer by layer, and the distances 1, 2, … that they look back, by name; means over the
  /// call's tokens: [heads of all layers, distances].
  std::map<std::string, torch::Tensor> head_values;

  /// The logits [B, scored, V]. They are computed at each call.
  torch::Tensor logits() const;
  /// The summed cross-entropy of all predictions against `targets` [B, scored], in nats and in double precision.
  /// Targets of kNoTarget do not count. Where there are many symbols the logits are never all held at once.
  torch::Tensor summed_loss(const torch::Tensor& targets) const;
};

/// Numbers that a model counts, of which those of several processes add up, or the largest one holds.
struct Counts {
  std::vector<double> sums;
  std::vector<double> maxima;
};

/// What every model has. Parameters are registered under the names of the published code (docs/models.md). What only
/// some models can do stands in core/models/capabilities.h.
class LanguageModel : public torch::nn::Module {
 public:
  /// One block, chunk or window. `state` comes from initial_state or from the call before. The prediction made at
  /// token t depends on the tokens up to t alone. Throws DataError where the input lacks something that the model
  /// needs.
  virtual ModelOutput forward(const ModelInput& input, const State& state) = 0;
  /// The same for tokens [B, T] without anything beside them.
  ModelOutput forward(const torch::Tensor& tokens, const State& state) {
    return forward(ModelInput{.tokens = tokens, .positions = {}, .boundaries = {}}, state);
  }

  /// The state at the start of a stream.
  virtual State initial_state(std::int64_t batch) const = 0;

  /// Called after every update. Puts parameters back where they belong, such as spans between 0 and 1.
  virtual void after_step() {}

  /// Statistics of the parameters and of the calls since the last reset: average_span, max_span, ….
  virtual NamedValues statistics() const { return {}; }
  virtual void reset_statistics() {}
  /// What statistics are made of since the last reset, for processes that each saw a part of the text, and for what
  /// comes between, such as an evaluation or a stop; and taken back once that of all is known, or what came is over.
  virtual Counts counts() const { return {}; }
  virtual void set_counts(const Counts& /*counts*/) {}
  virtual std::vector<Grid> grids() const { return {}; }

  /// What the model costs: params, and flops_per_token in blocks of `block` tokens, two for each multiply-add.
  /// Where the paper counts in another way, also paper_flops.
  virtual NamedValues costs(std::int64_t block) const = 0;

  /// How its text is fed (core/schemes).
  virtual TextScheme scheme() const { return TextScheme::kStreaming; }

  /// How many numbers the parameters hold. A tied one counts once.
  std::int64_t parameter_count() const;

  /// Parameters by name, in the order in which they were declared.
  const std::vector<std::pair<std::string, torch::Tensor>>& weights() const { return weights_; }

 protected:
  /// Declares a parameter under its dotted name.
  torch::Tensor parameter(const std::string& name, torch::Tensor initial);

 private:
  std::vector<std::pair<std::string, torch::Tensor>> weights_;
};

/// A model on the CPU, with random weights from torch's default generator. Throws UsageError for options that do not go
/// together.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, std::int64_t symbols);

/// The same for a known vocabulary. Throws UsageError also where the model cannot work with the vocabulary.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, const Vocabulary& vocabulary);

/// Whether every parameter must be there, or additions (ExtendsAnother::is_addition) may keep the values they have.
enum class Missing { kNone, kAdditions };

/// Which rows of embeddings beyond the symbols are left out: any, or those that fill up to a multiple of a power of
/// two, where nothing but their number says that the symbols are those of the weights.
enum class UnusedRows { kAny, kPadding };

/// A buffer that the published programs save beside their weights.
bool is_known_buffer(const std::string& stored_name);

/// Copies tensors into the parameters of the same names. Prefixes and buffers that published programs write are ignored
/// (docs/models.md#a-model-folder). Returns how many rows of embeddings were left out. Throws DataError that names
/// `source` and the tensor that is missing, unknown, wrongly shaped or not of floating-point numbers.
std::int64_t load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                          const std::string& source, Missing allowed = Missing::kNone,
                          UnusedRows unused = UnusedRows::kPadding);

}  // namespace xlm
