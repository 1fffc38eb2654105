// The interface of all models. Trainer and evaluator use only this, and know no model by name.
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

/// What a model carries from one block, or window, of a text to the next. Every tensor is [B, …].
using State = std::vector<torch::Tensor>;

/// The rows [begin, begin + count) of a state.
State state_rows(const State& state, std::int64_t begin, std::int64_t count);
/// The state of all rows, from the states of consecutive parts of them.
State concatenate_states(const std::vector<State>& parts);

/// The token in front of a text, for models of TextScheme::kRandomWindows. It is no symbol and is never predicted.
inline constexpr std::int64_t kBeginning = -1;

/// The input of one call. Only the tokens are always present; a model uses what it needs of the rest.
struct ModelInput {
  torch::Tensor tokens;     // [B, T] int64
  torch::Tensor positions;  // [B, T] int64, the position of each token in its row of the text; undefined: 0 … T − 1
  torch::Tensor boundaries;   // [B, T] bool, the segmentation of the text; undefined: none
  torch::Tensor noise;        // [B, T] uniform numbers, drawn before the call; undefined: a model draws its own
  std::int64_t scored = 0;    // the number of requested predictions, the last ones of each row; 0: all
  std::int64_t room = 0;      // sizes that follow from the text are those that the model holds (Capturable::room),
                              // enough for every row; 0: as large as needed
  bool traced = false;        // whether ModelOutput::token_values are requested
  bool heads_traced = false;  // whether ModelOutput::head_values are requested

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
  torch::Tensor left_out;        // [B, scored] bool: predictions that are not scored; undefined: all are
  torch::Tensor auxiliary_loss;  // scalar, to be added to the training loss; undefined: none
  torch::Tensor needed;          // [N] int64, what had to be within held sizes; undefined: nothing
  State state;                   // for the next block, without gradient, or for the next window, with it
  NamedValues statistics;        // averages over this call, such as a shortening factor
  std::map<std::string, torch::Tensor> token_values;  // numbers for single tokens, by name: [B, scored]
  /// Numbers for single heads, layer by layer, and for their distances 1, 2, … back, by name; means over the call's
  /// tokens: [heads of all layers, distances].
  std::map<std::string, torch::Tensor> head_values;

  /// The logits [B, scored, V], computed at each call.
  torch::Tensor logits() const;
  /// The summed cross-entropy of all predictions against `targets` [B, scored], in nats and in double precision.
  /// Targets of kNoTarget and of predictions that are left out do not count. With many symbols the logits are never all
  /// held at once.
  torch::Tensor summed_loss(const torch::Tensor& targets) const;
  /// The loss of every prediction against `targets` [B, scored], in nats and in double precision: [B, scored]. 0 for
  /// targets that do not count. The logits are held for a row at a time.
  torch::Tensor losses(const torch::Tensor& targets) const;
  /// The mean over all targets [B, scored]. If predictions are left out, the mean over rows of each row's mean over the
  /// others, so that it does not depend on how rows are computed together.
  torch::Tensor mean_loss(const torch::Tensor& targets) const;
  /// `targets` [B, scored] with kNoTarget for predictions that are left out.
  torch::Tensor counted_targets(const torch::Tensor& targets) const;
};

/// Numbers that a model counts. Over several processes they are summed, or the largest one counts.
struct Counts {
  std::vector<double> sums;
  std::vector<double> maxima;
};

/// What every model has. Parameters have the names of the published code (docs/models.md). What only some models can do
/// is in core/models/capabilities.h.
class LanguageModel : public torch::nn::Module {
 public:
  /// One block, chunk or window. `state` comes from initial_state or from the call before. The prediction at token t
  /// depends only on the tokens up to t. Throws DataError if the input lacks something that the model needs.
  virtual ModelOutput forward(const ModelInput& input, const State& state) = 0;
  /// The same for tokens [B, T] alone.
  ModelOutput forward(const torch::Tensor& tokens, const State& state) {
    return forward(ModelInput{.tokens = tokens, .positions = {}, .boundaries = {}}, state);
  }

  /// The state at the start of a stream.
  virtual State initial_state(std::int64_t batch) const = 0;

  /// Called after every update. Puts parameters back into their range, such as spans between 0 and 1.
  virtual void after_step() {}

  /// Statistics of the parameters and of the calls since the last reset: average_span, max_span, ….
  virtual NamedValues statistics() const { return {}; }
  virtual void reset_statistics() {}
  /// The counts behind the statistics since the last reset, and restoring them. Processes that each saw a part of the
  /// text combine theirs; an interruption, such as an evaluation or a stop, saves and restores them.
  virtual Counts counts() const { return {}; }
  virtual void set_counts(const Counts& /*counts*/) {}
  virtual std::vector<Grid> grids() const { return {}; }

  /// The model's cost: params, and flops_per_token in blocks of `block` tokens, two for each multiply-add. Also
  /// paper_flops if the paper counts in another way.
  virtual NamedValues costs(std::int64_t block) const = 0;

  /// Whether `costs` change with training or with the text.
  virtual bool costs_are_measured() const { return false; }

  /// How its text is fed (core/schemes).
  virtual TextScheme scheme() const { return TextScheme::kStreaming; }

  /// How many numbers the parameters have. A tied one counts once.
  std::int64_t parameter_count() const;

  /// Parameters by name, in the order in which they were declared.
  const std::vector<std::pair<std::string, torch::Tensor>>& weights() const { return weights_; }

 protected:
  /// Declares a parameter under its dotted name.
  torch::Tensor parameter(const std::string& name, torch::Tensor initial);

 private:
  std::vector<std::pair<std::string, torch::Tensor>> weights_;
};

/// A model on the CPU, with random weights from torch's default generator. Throws UsageError for options that exclude
/// each other.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, std::int64_t symbols);

/// The same for a known vocabulary. Throws UsageError also if the vocabulary does not fit the model.
std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, const Vocabulary& vocabulary);

/// Whether every parameter must be in the file, or additions (ExtendsAnother::is_addition) may keep their values.
enum class Missing { kNone, kAdditions };

/// Which embedding rows beyond the symbols are dropped: any, or only padding to a multiple of a power of two. The
/// latter applies if only their number shows that the symbols belong to the weights.
enum class UnusedRows { kAny, kPadding };

struct SymbolRows;

/// Whether it is a buffer that the published programs save with their weights.
bool is_known_buffer(const std::string& stored_name);

/// Copies tensors into the parameters of the same names. Ignores prefixes and buffers of published programs
/// (docs/models.md#a-model-folder). Returns how many embedding rows were dropped. Throws DataError with `source` and
/// the tensor that is missing, unknown, wrongly shaped or not of floating-point numbers. With `rows` the model's own
/// values stay where the file has no row for a symbol.
std::int64_t load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                          const std::string& source, Missing allowed = Missing::kNone,
                          UnusedRows unused = UnusedRows::kPadding, const SymbolRows* rows = nullptr);

/// LanguageModel::costs of a model that is never made: its weights have sizes but no numbers, so that even a model that
/// no machine could hold takes no memory. Throws as make_model does.
NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block);

/// LanguageModel::costs_are_measured of a model that is never made.
bool model_costs_are_measured(const ModelOptions& options, std::int64_t symbols);

}  // namespace xlm
