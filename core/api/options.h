// The typed options that define a run. Free of torch, so that help, checks and sweeps do not need it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"

namespace xlm {

/// An option of a model: the probability with which training drops a number.
inline void dropout_field(OptionVisitor& v, std::string_view name, std::string_view help, double& value) {
  v.field({.name = name, .help = help, .min = 0, .max = 1, .open_max = true, .of_learning = true}, value);
}

enum class Precision { kFloat32, kBfloat16 };
inline constexpr std::array<std::string_view, 2> kPrecisionNames{"float32", "bfloat16"};

struct DataOptions {
  std::string path;

  void visit(OptionVisitor& v) {
    v.field({.name = "path", .help = "a prepared data folder (xlm prepare-data)", .affects_result = false}, path);
  }
};

/// From which run and step training goes on.
struct ContinueOptions {
  enum class Text { kContinue, kRestart };
  static constexpr std::array<std::string_view, 2> kTextNames{"continue", "restart"};

  std::string run;
  std::int64_t at = 0;
  Text text = Text::kContinue;

  void visit(OptionVisitor& v) {
    v.field({.name = "run",
             .help = "run id or run folder: training goes on from a checkpoint of this run, with its optimiser and its "
                     "place in the text; empty: it begins at step 0",
             .content = OptionContent::kRun},
            run);
    v.field({.name = "at", .help = "step of that checkpoint; 0: the newest", .min = 0, .max = 1e12, .later = true}, at);
    v.field({.name = "text",
             .help = "continue: from that run's place in the text; restart: from the beginning of the text, for other "
                     "data, train.batch or train.block",
             .later = true},
            text, kTextNames);
  }
};

struct OptimizerOptions {
  enum class Type { kAdagrad, kAdam, kAdamW, kMuon };
  static constexpr std::array<std::string_view, 4> kTypeNames{"adagrad", "adam", "adamw", "muon"};
  enum class Schedule { kConstant, kCosine, kHalfCosine, kLinear, kWsd };
  static constexpr std::array<std::string_view, 5> kScheduleNames{"constant", "cosine", "half-cosine", "linear", "wsd"};
  enum class Decay { kAll, kMatrices };
  static constexpr std::array<std::string_view, 2> kDecayNames{"all", "matrices"};
  /// How muon's learning rate of a matrix [r, c] follows from its shape: √max(1, r/c), or 0.2·√max(r, c), with which an
  /// update is as long as a usual one of AdamW.
  enum class AdjustLr { kOriginal, kMatchRmsAdamW };
  static constexpr std::array<std::string_view, 2> kAdjustLrNames{"original", "match-rms-adamw"};

  Type type = Type::kAdam;
  double lr = 2.5e-4;
  std::int64_t warmup_steps = 0;
  Schedule schedule = Schedule::kConstant;
  std::int64_t drop_after = 0;
  double drop_factor = 0.1;
  double clip_norm = 0;
  double clip_step = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;
  Decay decay = Decay::kAll;
  double warmup_ratio = 0;
  double min_lr_ratio = 0;
  double decay_ratio = 0;
  double momentum = 0;
  std::int64_t ns_steps = 0;
  AdjustLr adjust_lr = AdjustLr::kOriginal;
  double adamw_lr = 0;

  void visit(OptionVisitor& v) {
    v.field({.name = "type",
             .help = "adagrad (accumulator from 0, ε 1e-10), adam, adamw (decoupled weight decay), or muon for the "
                     "matrices of layers with adamw for the rest"},
            type, kTypeNames);
    v.field({.name = "lr", .help = "learning rate after warm-up", .min = 0, .open_min = true}, lr);
    v.field({.name = "warmup_steps", .help = "steps over which the learning rate rises linearly", .min = 0},
            warmup_steps);
    v.field({.name = "schedule",
             .help = "learning rate after warm-up: constant; down to min_lr_ratio at train.steps by a cosine, by its "
                     "falling quarter from the first step on (half-cosine), or linear; or constant with a linear end "
                     "(wsd)"},
            schedule, kScheduleNames);
    v.field({.name = "drop_after",
             .help = "steps after which the learning rate is multiplied by drop_factor; 0: never",
             .min = 0,
             .max = 1e12},
            drop_after);
    v.field({.name = "drop_factor", .help = "see drop_after", .min = 0, .max = 1, .open_min = true}, drop_factor);
    v.field({.name = "clip_norm", .help = "largest norm of the gradient over all parameters; 0: no limit", .min = 0},
            clip_norm);
    v.field({.name = "clip_step",
             .help = "each tensor's step is scaled by min(1, clip_step / its gradient's norm); 0: not",
             .min = 0},
            clip_step);
    v.field({.name = "beta1",
             .help = "decay of the first moment of adam and adamw, of muon's adamw too; 0: 0.9",
             .min = 0,
             .max = 1,
             .open_max = true,
             .later = true},
            beta1);
    v.field({.name = "beta2",
             .help = "decay of the second moment of adam and adamw, of muon's adamw too; 0: 0.999",
             .min = 0,
             .max = 1,
             .open_max = true,
             .later = true},
            beta2);
    v.field({.name = "epsilon",
             .help = "ε of adam and adamw, of muon's adamw too; 0: 1e-8",
             .min = 0,
             .max = 1,
             .later = true},
            epsilon);
    v.field({.name = "weight_decay",
             .help = "λ of adamw and muon: a step subtracts λ times the learning rate times the weight",
             .min = 0,
             .max = 1e6,
             .later = true},
            weight_decay);
    v.field({.name = "decay", .help = "the tensors that decay: all, or those with two dimensions", .later = true},
            decay, kDecayNames);
    v.field({.name = "warmup_ratio",
             .help = "warm-up as a share of train.steps; 0: warmup_steps",
             .min = 0,
             .max = 1,
             .later = true},
            warmup_ratio);
    v.field({.name = "min_lr_ratio",
             .help = "the learning rate that a schedule ends with, as a share of lr",
             .min = 0,
             .max = 1,
             .later = true},
            min_lr_ratio);
    v.field({.name = "decay_ratio",
             .help = "share of train.steps of the linear end of wsd; 0: 0.2",
             .min = 0,
             .max = 1,
             .later = true},
            decay_ratio);
    v.field({.name = "momentum",
             .help = "decay of muon's average of gradients; 0: 0.95",
             .min = 0,
             .max = 1,
             .open_max = true,
             .later = true},
            momentum);
    v.field({.name = "ns_steps",
             .help = "steps of Newton and Schulz's iteration in muon; 0: 5",
             .min = 0,
             .max = 100,
             .later = true},
            ns_steps);
    v.field({.name = "adjust_lr",
             .help = "what muon's learning rate of a matrix [r, c] is multiplied by: original: √max(1, r/c); "
                     "match-rms-adamw: 0.2·√max(r, c), so that rates of adamw fit",
             .later = true},
            adjust_lr, kAdjustLrNames);
    v.field({.name = "adamw_lr",
             .help = "learning rate of what muon leaves to adamw; 0: lr with match-rms-adamw, otherwise 0.015·lr",
             .min = 0,
             .later = true},
            adamw_lr);
  }

  /// What is wrong with the values together: the key below `optimizer`, and the message.
  std::optional<std::pair<std::string, std::string>> problem() const;
};

inline constexpr std::int64_t kMaxBlock = 10'000'000;  // of train.block, given or derived

struct TrainOptions {
  /// Whether a GPU records steps and replays them.
  enum class CudaGraph { kAuto, kTrue, kFalse };
  static constexpr std::array<std::string_view, 3> kCudaGraphNames{"auto", "true", "false"};

  std::int64_t steps = 0;
  double epochs = 0;
  std::int64_t tokens = 0;
  double flops = 0;
  double seconds = 0;
  std::int64_t batch = 8;
  std::int64_t block = 512;
  std::int64_t micro_batch = 0;
  std::int64_t processes = 1;
  Precision precision = Precision::kFloat32;
  std::int64_t eval_every = 0;
  std::int64_t eval_every_tokens = 0;
  std::int64_t checkpoint_every = 1000;
  std::int64_t keep_every = 0;
  std::int64_t log_every = 0;
  double max_hours = 0;
  std::int64_t threads = 0;
  bool tf32 = false;
  bool deterministic = false;
  bool checkpoint_windows = false;
  CudaGraph cuda_graph = CudaGraph::kAuto;
  bool log_norms = false;
  bool debug = false;

  void visit(OptionVisitor& v) {
    v.field({.name = "steps", .help = "parameter updates; 0: set by epochs or tokens", .min = 0, .max = 1e12}, steps);
    v.field({.name = "epochs",
             .help = "passes over the training split; converted to steps",
             .min = 0,
             .max = 1e9,
             .affects_result = false},
            epochs);
    v.field({.name = "tokens",
             .help = "scored predictions of all steps together; converted to steps",
             .min = 0,
             .max = 9e15,
             .affects_result = false},
            tokens);
    v.field({.name = "flops",
             .help = "FLOPs of all steps together, three forward passes each, as the model measures them; the run ends "
                     "when they are spent, and schedules follow their share; 0: set by steps",
             .min = 0,
             .max = 1e30,
             .later = true},
            flops);
    v.field({.name = "seconds",
             .help = "time of all steps together, without evaluations and checkpoints; schedules follow its share, and "
                     "the result depends on the machine; 0: set by steps",
             .min = 0,
             .max = 1e9,
             .later = true},
            seconds);
    v.field({.name = "batch", .help = "rows B of a batch", .min = 1, .max = 1e6}, batch);
    v.field(
        {.name = "block",
         .help =
             "tokens that a step reads of each row, the papers' M or T; for a model that reads windows: tokens of a "
             "training sequence; 0: those of model.windows windows",
         .min = 0,
         .max = double{kMaxBlock},
         .of_weights = false},
        block);
    v.field({.name = "micro_batch",
             .help = "rows computed at once, gradients added up; 0: the whole batch",
             .min = 0,
             .max = 1e6,
             .affects_result = false},
            micro_batch);
    v.field({.name = "processes",
             .help = "processes that share the rows of each batch, one on each of so many GPUs; 1 on a CPU",
             .min = 1,
             .max = 4096,
             .affects_result = false},
            processes);
    v.field({.name = "precision",
             .help = "bfloat16 keeps float32 weights, optimiser, normalisation and softmax",
             .of_weights = false},
            precision, kPrecisionNames);
    v.field({.name = "eval_every",
             .help = "steps between evaluations on the validation split; 0: at the end only",
             .min = 0,
             .max = 1e12},
            eval_every);
    v.field({.name = "eval_every_tokens",
             .help = "the same in scored predictions; converted to eval_every; 0: set by eval_every",
             .min = 0,
             .max = 9e15,
             .affects_result = false},
            eval_every_tokens);
    v.field({.name = "checkpoint_every",
             .help = "steps between checkpoints",
             .min = 1,
             .max = 1e12,
             .affects_result = false},
            checkpoint_every);
    v.field({.name = "keep_every",
             .help = "steps between checkpoints that are kept, to branch from; 0: only the newest two are kept",
             .min = 0,
             .max = 1e12,
             .affects_result = false},
            keep_every);
    v.field({.name = "log_every",
             .help = "steps between metrics in the journal; 0: a thousand over the run",
             .min = 0,
             .max = 1e12,
             .affects_result = false},
            log_every);
    v.field({.name = "max_hours",
             .help = "stop with a checkpoint after so many hours of one process; 0: no limit",
             .min = 0,
             .affects_result = false},
            max_hours);
    v.field({.name = "threads",
             .help = "CPU threads, fixed when a run starts; 0: OMP_NUM_THREADS if it is set, otherwise cores / jobs",
             .min = 0,
             .max = 4096,
             .affects_result = false,
             .of_weights = false},
            threads);
    v.field({.name = "tf32", .help = "let float32 products on an NVIDIA GPU use TF32", .of_weights = false}, tf32);
    v.field({.name = "deterministic",
             .help = "on an NVIDIA GPU: only operations that give the same bits each time, so that a resumed run "
                     "equals an uninterrupted one; slower. On a CPU this is always so",
             .affects_result = false},
            deterministic);
    v.field(
        {.name = "checkpoint_windows",
         .help = "if a sequence is cut into windows: keep only what one passes to the next, and compute each "
                 "again in the backward pass: about one window's memory, and steps that take 1.5 to 1.7 times as long",
         .affects_result = false},
        checkpoint_windows);
    v.field({.name = "cuda_graph",
             .help = "on an NVIDIA GPU: record a step's operations and replay them while their shapes stay the same; "
                     "auto: where no operation depends on what a step computes and memory is plenty (if it is not, "
                     "dropout draws the "
                     "same); true: wherever possible, and a note says why not; false: never",
             .affects_result = false},
            cuda_graph, kCudaGraphNames);
    v.field({.name = "log_norms",
             .help = "also record the norms of gradients, weights and updates, in all and by layer, every log_every "
                     "steps",
             .affects_result = false},
            log_norms);
    v.field({.name = "debug",
             .help = "look at every activation, gradient and weight, so that an error names the first that is not "
                     "finite; slower; train --debug",
             .affects_result = false},
            debug);
  }

  /// Whether the number of steps follows from a budget that is spent while training.
  bool has_budget() const { return flops > 0 || seconds > 0; }
  /// Whether the length of training is known, epochs and tokens converted.
  bool has_length() const { return steps > 0 || has_budget(); }
};

/// How evaluations while training differ from the final ones.
struct EvaluationDuringOptions {
  double share = 0;
  std::int64_t max_windows = 0;

  void visit(OptionVisitor& v) {
    v.field({.name = "share",
             .help = "share of the split, from its beginning on; 0: the whole split",
             .min = 0,
             .max = 1,
             .later = true},
            share);
    v.field({.name = "max_windows",
             .help = "evaluate only the first windows of a row, as eval.max_windows; 0: those of eval.max_windows",
             .min = 0,
             .max = 1e12,
             .later = true},
            max_windows);
  }

  /// Whether they are the same as the final ones.
  bool is_whole() const { return (share == 0 || share == 1) && max_windows == 0; }
};

struct EvalOptions {
  enum class Select { kLast, kBest };
  static constexpr std::array<std::string_view, 2> kSelectNames{"last", "best"};
  enum class FirstToken { kSkip, kScore };
  static constexpr std::array<std::string_view, 2> kFirstTokenNames{"skip", "score"};
  enum class Sealed { kNone, kTest };
  static constexpr std::array<std::string_view, 2> kSealedNames{"none", "test"};

  std::int64_t batch = 8;
  std::int64_t context = 2048;
  std::int64_t stride = 512;
  std::int64_t max_windows = 0;
  FirstToken first_token = FirstToken::kSkip;
  bool by_document = false;
  Select select = Select::kLast;
  Sealed sealed = Sealed::kNone;
  EvaluationDuringOptions during;

  void visit(OptionVisitor& v) {
    v.field({.name = "batch",
             .help = "rows that a split is cut into, of which every token but the first is scored; or windows at once",
             .min = 1,
             .max = 1e6,
             .of_weights = false},
            batch);
    v.field({.name = "context",
             .help = "tokens of a window, the scored ones included; used by models that carry no state; default of "
                     "models that train on random windows: train.block",
             .min = 1,
             .max = 1e7,
             .of_weights = false},
            context);
    v.field({.name = "stride",
             .help = "last tokens of a window, which are scored; used by models that carry no state; default of models "
                     "that train on random windows: eval.context",
             .min = 1,
             .max = 1e7,
             .of_weights = false},
            stride);
    v.field({.name = "max_windows",
             .help = "evaluate only the first windows of a row, or of the split; 0: the whole split. They are of "
                     "train.block tokens in models that carry a state, adaptive-span and gpt2",
             .min = 0,
             .max = 1e12,
             .later = true,
             .of_weights = false},
            max_windows);
    v.field({.name = "first_token",
             .help = "of a document: skip, because it has no context, or score it after <|endoftext|>; used by models "
                     "that read windows",
             .later = true,
             .of_weights = false},
            first_token, kFirstTokenNames);
    v.field({.name = "by_document",
             .help = "also keep the losses of single documents, or of stretches of a text with few documents, by which "
                     "xlm compare tests two models",
             .affects_result = false,
             .of_weights = false},
            by_document);
    v.field({.name = "select", .help = "which weights become the model: the last, or the best on validation"}, select,
            kSelectNames);
    v.field({.name = "sealed",
             .help = "test: nothing measures the test split before xlm claims --open does, once for all runs",
             .affects_result = false},
            sealed, kSealedNames);
    v.group("during", "Evaluations while training.", during);
  }

  /// Whether nothing may measure a split yet.
  bool seals(std::string_view split) const { return sealed == Sealed::kTest && split == "test"; }
};

struct ResultsOptions {
  bool tensorboard = false;

  void visit(OptionVisitor& v) {
    v.field({.name = "tensorboard",
             .help = "also write event files to tensorboard/ in the run folder, while it trains",
             .affects_result = false},
            tensorboard);
  }
};

}  // namespace xlm
