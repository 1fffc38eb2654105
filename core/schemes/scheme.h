// How a text is fed to a model: all that differs from scheme to scheme, behind one interface. A scheme is one file,
// NAME.cpp, and one line in core/api/schemes.def.
//
// B rows of a batch, M tokens of a block (T in models that call it so).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/json.h"
#include "core/api/options.h"
#include "core/api/text_scheme.h"
#include "core/models/capabilities.h"
#include "core/models/captured_steps.h"
#include "core/models/language_model.h"
#include "core/parallel/process_group.h"
#include "core/schemes/part_sums.h"
#include "core/schemes/token_source.h"

namespace xlm {

struct Batch {
  ModelInput input;       // [B, M]
  torch::Tensor targets;  // [B, M], the token after each; kNoTarget: not scored
  bool fresh = false;     // the rows do not continue the batch before: start from the initial state
};

/// An endless sequence of batches, the same for the same seed.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual Batch next() = 0;
  /// The place in the stream, for checkpoints.
  virtual Json state() const = 0;
  /// Throws DataError if the text has no such place.
  virtual void restore(const Json& state) = 0;
};

struct BatchShape {
  std::int64_t batch;
  std::int64_t block;
};

/// Which activations are kept for the backward pass.
enum class ActivationPolicy {
  kKeep,
  kRecompute  // only the state between windows; the backward pass computes each window again
};

struct TrainingLoss {
  torch::Tensor language_model;  // mean over the scored predictions, in nats
  torch::Tensor total;           // the same plus the model's auxiliary loss
  State state;                   // for the next batch
  torch::Tensor needed = {};     // ModelOutput::needed
};

/// How a split is evaluated.
struct SplitSettings {
  std::int64_t rows = 8;         // the split is cut into so many rows of ⌊N/rows⌋ tokens; the remainder is dropped
  std::int64_t block = 512;      // with state: tokens of a row in one call
  std::int64_t context = 2048;   // without state: tokens of a window
  std::int64_t stride = 512;     // without state: scored tokens of a window, its last ones
  std::int64_t max_windows = 0;  // of a row, or of the split; with state: blocks; 0: all
  bool first_token = false;      // windows scheme: also score each document's first token, after the end-of-text symbol
  Precision precision = Precision::kFloat32;
  torch::Device device = torch::kCPU;
  bool by_part = false;           // evaluate_split also keeps the losses of parts
  PartSums* parts = nullptr;      // where evaluate adds them; null: they are not wanted
  ProcessGroup* group = nullptr;  // each of its processes evaluates a part; null: this process evaluates all
  MakeRecorder recorder = {};     // for calls; without one that could be, they are computed as if recorded
};

struct SplitLoss {
  std::int64_t tokens = 0;    // scored predictions
  std::int64_t computed = 0;  // positions that were computed for them, context included; 0: as many as were scored
  std::int64_t bytes = 0;     // of the symbols that were scored (TokenSource::bytes)
  double loss = 0;            // in nats: the sum from Scheme::evaluate, the mean from evaluate_split
  NamedValues statistics;     // the model's, over the whole split
  PartLosses parts = {};      // with SplitSettings::by_part
  bool whole = true;          // false: max_windows left the rest out
  bool stopped = false;       // `progress` returned false; the values above mean nothing
};

/// Called after every call of the model with the predictions that this process has scored and will score in all.
/// Returning false stops the evaluation.
using ProgressCallback = std::function<bool(std::int64_t scored, std::int64_t total)>;

/// Values for the first tokens of a text.
struct TracedTokens {
  std::int64_t tokens = 0;
  std::map<std::string, std::vector<double>> values;  // by name, one for each token
};

class Scheme {
 public:
  virtual ~Scheme() = default;

  /// The batches of a training text. Throws DataError if the text is too short.
  virtual std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape,
                                               std::int64_t seed) const = 0;

  /// The loss of some rows of a batch. The default calls the model once and scores every prediction.
  virtual TrainingLoss loss(LanguageModel& model, const ModelInput& input, const torch::Tensor& targets,
                            const State& state, ActivationPolicy policy) const;
  /// Whether `loss` supports ActivationPolicy::kRecompute.
  virtual bool can_recompute() const { return false; }

  /// Throws DataError if a split is too short to evaluate; the message calls it `name`. The default needs two tokens
  /// for every row.
  virtual void check_split(const TokenSource& source, const SplitSettings& settings, const std::string& name) const;
  /// Sums the losses of a split. Leaves `statistics` and `parts` empty: evaluate_split adds them.
  virtual SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             const ProgressCallback& progress) const = 0;

  /// Reads the first tokens of `source`, at most `limit`, as one row, with the state or the context that evaluation
  /// gives a row. Returns the model's values for each (TracesTokens). The default reads one window, without a
  /// beginning.
  virtual TracedTokens trace(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             std::int64_t limit) const;

  /// A reader of a growing text that only calls `forward`, for models that have none (ReadsIncrementally). The default
  /// throws UsageError: its scheme leaves reading to the models.
  virtual std::unique_ptr<TextReader> reader(std::shared_ptr<LanguageModel> model,
                                             const ReaderSettings& settings) const;

 protected:
  /// Traces the first `length` tokens, `piece` at a time, with the state carried along.
  static TracedTokens trace_row(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                                std::int64_t piece, std::int64_t length);
  /// Appends the values of a call for one row.
  static void append_values(const ModelOutput& output, TracedTokens& trace);
};

const Scheme& scheme_of(TextScheme kind);
inline const Scheme& scheme_of(const LanguageModel& model) { return scheme_of(model.scheme()); }

}  // namespace xlm
