// How a text is fed to a model: all that differs from scheme to scheme, behind one interface. A scheme is one file,
// NAME.cpp, and one line in core/api/schemes.def.
//
// B rows of a batch, M tokens of a block (T where the model calls it so).
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
#include "core/models/language_model.h"
#include "core/parallel/process_group.h"
#include "core/schemes/token_source.h"

namespace xlm {

struct Batch {
  ModelInput input;       // [B, M]
  torch::Tensor targets;  // [B, M], the token after each; kNoTarget: not scored
  bool fresh = false;     // the rows do not go on from the batch before: start from the initial state
};

/// An endless sequence of batches, the same for the same seed.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual Batch next() = 0;
  /// The place in the stream, for checkpoints.
  virtual Json state() const = 0;
  /// Throws DataError for a place that this text does not have.
  virtual void restore(const Json& state) = 0;
};

struct BatchShape {
  std::int64_t batch;
  std::int64_t block;
};

/// What is kept, until its gradient is computed, of what a model computes.
enum class ActivationPolicy {
  kKeep,
  kRecompute,  // of a sequence of windows only what one hands to the next; each window is computed again
  kRecord      // all, by a recording (captured_steps.h), in which a GPU's own generator cannot be seeded
};

struct TrainingLoss {
  torch::Tensor language_model;  // mean of the scored predictions, in nats
  torch::Tensor total;           // with what the model adds to it
  State state;                   // for the next batch
};

/// How a split is evaluated.
struct SplitSettings {
  std::int64_t rows = 8;         // the split is cut into so many rows of ⌊N/rows⌋ tokens; the remainder is dropped
  std::int64_t block = 512;      // tokens of a row at a time, if state is carried along
  std::int64_t context = 2048;   // tokens of a window, and
  std::int64_t stride = 512;     // its last tokens that are scored, if no state is carried
  std::int64_t max_windows = 0;  // of a row, there; 0: all
  bool first_token = false;      // of each document is scored too, after the symbol for the end of a text; of windows
  Precision precision = Precision::kFloat32;
  torch::Device device = torch::kCPU;
  ProcessGroup* group = nullptr;  // of which each process evaluates its part of the split; null: this one does it all
};

struct SplitLoss {
  std::int64_t tokens = 0;  // scored predictions
  std::int64_t bytes = 0;   // of the symbols that were scored (TokenSource::bytes)
  double loss = 0;          // in nats: of a scheme the sum, of evaluate_split the mean
  NamedValues statistics;   // the model's, over the whole split
  bool whole = true;        // false: max_windows left the rest of the rows out
  bool stopped = false;     // `go_on` returned false; the values above mean nothing
};

/// Called after every call of the model with what this process has scored and what it is to score; false stops.
using GoOn = std::function<bool(std::int64_t scored, std::int64_t total)>;

/// Numbers for the first tokens of a text.
struct TracedTokens {
  std::int64_t tokens = 0;
  std::map<std::string, std::vector<double>> values;  // by name, one for each token
};

/// How much text a reader gives its model in one call.
struct ReaderSettings {
  std::int64_t block = 512;     // if state is carried along
  std::int64_t context = 2048;  // if not
};

class Scheme {
 public:
  virtual ~Scheme() = default;

  /// The training text. Throws DataError if it is too short.
  virtual std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape,
                                               std::int64_t seed) const = 0;

  /// The loss of some rows of a batch. By default one call of the model, every prediction of which is scored.
  virtual TrainingLoss loss(LanguageModel& model, const ModelInput& input, const torch::Tensor& targets,
                            const State& state, ActivationPolicy policy) const;
  /// Whether `loss` has something to compute again.
  virtual bool can_recompute() const { return false; }

  /// Throws DataError if a split, called `name`, is too short to be evaluated. By default it is cut into rows.
  virtual void check_split(const TokenSource& source, const SplitSettings& settings, const std::string& name) const;
  /// Sums the losses of a split; the statistics are left to evaluate_split.
  virtual SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             const GoOn& go_on) const = 0;

  /// Reads the first tokens of `source`, at most `limit`, as one row, with the state or the context that evaluation
  /// gives a row, and returns what the model says of them (TracesTokens). By default one window.
  virtual TracedTokens trace(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             std::int64_t limit) const;

  /// Reads a text that grows, by calls of `forward` alone.
  virtual std::unique_ptr<TextReader> reader(std::shared_ptr<LanguageModel> model,
                                             const ReaderSettings& settings) const = 0;

 protected:
  /// Traces the first `length` tokens, `piece` at a time, with the state carried along.
  static TracedTokens trace_row(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                                std::int64_t piece, std::int64_t length);
};

const Scheme& scheme_of(TextScheme kind);
inline const Scheme& scheme_of(const LanguageModel& model) { return scheme_of(model.scheme()); }

}  // namespace xlm
