// The door to core. The program itself is free of torch: it opens libxlm_core.so when a command first needs a model,
// and calls it only through this interface.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "core/api/model_options.h"
#include "core/api/options.h"

namespace xlm {

/// Named numbers: metrics, costs, statistics of a model ("average_span").
using NamedValues = std::map<std::string, double>;

/// All that core needs to know about one run.
struct RunOptions {
  std::string experiment;  // groups runs in the store; not part of the run's identity
  DataOptions data;
  ModelOptions model;
  std::string init_from;  // model folder or checkpoint whose weights training starts from; empty: random weights
  ContinueOptions continues;
  OptimizerOptions optimizer;
  TrainOptions train;
  EvalOptions eval;
  ResultsOptions results;
  std::int64_t seed = 1;
  std::string device = "auto";  // cpu | cuda | cuda:N | auto
};

/// Values of a model for every token of a piece of text, such as how far it looked back from there. Empty if the model
/// has no values of single tokens.
struct TokenTrace {
  std::vector<std::string> tokens;                    // as the vocabulary writes them; a byte beyond ASCII as <0xC3>
  std::map<std::string, std::vector<double>> values;  // by name ("span"), a number per token
};

/// Losses of the parts of a split (core/schemes/part_sums.h). Empty unless eval.by_document asks for them.
struct PartLosses {
  bool of_documents = false;         // otherwise the parts are stretches of equal length
  std::int64_t each = 0;             // documents of a part, or tokens of a stretch; the last part may have fewer
  std::vector<std::int64_t> tokens;  // scored in each part
  std::vector<double> sums;          // of their losses, in nats
};

/// One evaluation of a whole split.
struct Evaluation {
  std::string split;        // "train" | "valid" | "test"
  std::int64_t step = 0;    // updates of the weights so far
  std::int64_t tokens = 0;  // scored predictions
  double loss = 0;          // nats per scored token
  double seconds = 0;
  double flops = 0;    // of its forward passes; 0: not known
  bool final = false;  // made with the weights that became model/
  NamedValues values;  // bpc, perplexities, the model's own: average_span, …
  TokenTrace trace;    // of the split's first tokens, for a final or a requested evaluation
  PartLosses parts;    // likewise
};

/// A table of numbers that a model reports besides its metrics, such as the span of every head, with a row per layer.
/// It is stored, shown and plotted under its name.
struct Grid {
  std::string name;  // "spans"
  std::vector<std::vector<double>> rows;
  std::vector<std::int64_t> columns = {};  // what the columns stand for, such as distances, rising; empty: 1, 2, …
};

/// Receives a run's results, and tells core whether to continue. Implemented above core.
class TrainSink {
 public:
  virtual ~TrainSink() = default;
  /// After every step; cheap. `values` holds at least loss and bpc of the step.
  virtual void progress(std::int64_t step, const NamedValues& values) = 0;
  /// Every train.log_every steps; goes into the journal.
  virtual void metrics(std::int64_t step, const NamedValues& values) = 0;
  virtual void grid(std::int64_t step, const Grid& grid) = 0;
  virtual void evaluation(const Evaluation& evaluation) = 0;
  /// params, flops_per_token, paper_flops, training_flops, peak_memory (bytes), step_seconds; may be given more than
  /// once.
  virtual void costs(const NamedValues& values) = 0;
  /// A checkpoint is about to be gathered and written; `checkpoint` follows when it is complete.
  virtual void saving() = 0;
  virtual void checkpoint(std::int64_t step, const fs::path& file) = 0;
  /// A line for the log and the screen.
  virtual void message(const std::string& text) = 0;
  /// Called before anything is written into the run folder: throws if another worker has taken over the run.
  virtual void check_owner() = 0;
  /// True if the run should save and stop at the next step boundary.
  virtual bool should_stop() = 0;
  /// During an evaluation, after each of its batches; cheap. `scored` of about `total` predictions are made.
  virtual void evaluating(const std::string& /*split*/, double /*scored*/, double /*total*/) {}
};

/// Another process of the run has ended, or does not arrive.
class LostProcessError : public Error {
 public:
  using Error::Error;
};

/// This process among the processes of a run, one for each of several GPUs of this machine, and how they meet.
struct Processes {
  std::int64_t rank = 0;                   // 0 writes; the others compute alone
  std::int64_t count = 1;                  // that share the rows of a batch
  fs::path meeting = {};                   // a folder that no other user sees; empty at first, used once
  double patience = 120;                   // seconds until all must have arrived
  std::function<bool()> give_up = {};      // asked while waiting: whether another of them has ended
  std::function<bool()> should_stop = {};  // asked while waiting: whether all are to stop

  bool is_to_leave() const { return (give_up && give_up()) || (should_stop && should_stop()); }
};

struct TrainJob {
  RunOptions options;
  fs::path folder;         // the run folder; checkpoints/ and model/ are written inside
  std::string model_yaml;  // text of model/config.yaml
  Processes processes = {};
};

enum class TrainOutcome { kDone, kStopped };

struct EvalJob {
  fs::path model;      // a model folder
  RunOptions options;  // model, eval, device, seed and of train block, precision, tf32 and threads are used
  std::string split = "test";
};

/// A text in the groups that a model makes of it.
struct Segmented {
  std::vector<std::string> groups;  // the text in parts; the last may be incomplete
  std::int64_t tokens = 0;
  std::int64_t boundaries = 0;  // complete groups
};

struct SegmentJob {
  fs::path model;      // a model folder
  RunOptions options;  // as of EvalJob
  std::string text;    // in the model's symbols
};

/// A part of a document of a split: exactly so many tokens.
struct Passage {
  std::string split = "valid";
  std::int64_t document = 1;  // counted from 1
  std::int64_t first = 1;     // its first token in the document, counted from 1
  std::int64_t tokens = 300;
};

/// A request for a continuation.
struct SampleJob {
  fs::path model;  // a model folder
  // Used are model, device, seed, eval.context and of train block, tf32 and threads; data if the prompt is a passage.
  RunOptions options;
  std::string prompt;
  std::optional<Passage> passage = std::nullopt;  // of options.data, instead of `prompt`
  std::int64_t tokens = 0;
  double temperature = 0;  // sampling temperature; 0 is greedy
  std::int64_t top_k = 0;  // only the k most likely tokens; 0: all
  double top_p = 1;        // only the most likely tokens with this total probability
};

struct Sample {
  std::string prompt;                // as text
  std::string text;                  // the continuation alone
  std::vector<std::int64_t> tokens;  // its ids
  std::int64_t prompt_tokens = 0;
  double seconds = 0;  // of the continuation, after the prompt was read
};

/// A version of an operation that a device gets.
struct KernelUse {
  std::string operation;
  std::string version;
  std::string gain;                      // over what libtorch has; "" if none is known
  std::vector<std::string> passed_over;  // "version: why it was not taken"
};

/// What core does for commands. Errors are thrown as in base/error.h.
class Core {
 public:
  virtual ~Core() = default;
  /// Trains, resuming from the newest whole checkpoint in job.folder, evaluates, and writes job.folder/model. If
  /// several processes run it, each gets the same job except its rank. Throws DivergedError if the loss is not finite.
  virtual TrainOutcome train(const TrainJob& job, TrainSink& sink) = 0;
  /// Loss of a model folder on one split of options.data; `progress(done, total)` counts scored tokens.
  virtual Evaluation evaluate(const EvalJob& job, const std::function<void(double, double)>& progress) = 0;
  /// Throws UsageError for a model without groups, DataError for a text with symbols that the model does not know.
  virtual Segmented segment(const SegmentJob& job) = 0;
  /// Continues a text; `show` receives pieces of whole characters as they come, and stops the text by returning false.
  /// Throws DataError for a passage that the data lack, and for symbols that the model does not know.
  virtual Sample sample(const SampleJob& job, const std::function<bool(const std::string&)>& show) = 0;
  /// Parameters and cost of a model before training, for a vocabulary of `symbols`.
  virtual NamedValues costs(const RunOptions& options, std::int64_t symbols) = 0;
  /// Whether the cost of a token changes with training or with the text, so that it is known only afterwards.
  virtual bool costs_are_measured(const RunOptions& /*options*/, std::int64_t /*symbols*/) { return false; }
  /// {"libtorch": "2.11.0", "device": …, "gpu": …, …} for environment.json.
  virtual std::map<std::string, std::string> environment(const std::string& device) = 0;
  /// Which version of each operation trains on a device in a precision.
  virtual std::vector<KernelUse> kernels(const std::string& device, Precision precision) = 0;
};

/// The one symbol that libxlm_core.so exports for the program.
extern "C" Core* xlm_core();

}  // namespace xlm
