// Options of the skeleton: names, meanings and ranges, which also make the help and the configuration reference.
#include "core/api/skeleton_options.h"

namespace xlm {

// Every option once. An enum with an array of names is a choice (examples/paper shows one).
void SkeletonOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width D", .min = 1, .max = 65536}, width);
  v.field({.name = "context", .help = "tokens C that a prediction sees", .min = 1, .max = 1024}, context);
}

// What the paper fixes in training; a configuration can change all of it.
void SkeletonOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdam, .lr = 2e-3, .warmup_steps = 20, .clip_norm = 1};
  train.batch = 16;
  train.block = 128;
  eval = {.batch = 16, .context = 128, .stride = 64};
}

// What is wrong with the options together, as {key, message}.
std::optional<OptionProblem> SkeletonOptions::problem() const { return std::nullopt; }

// Small models for the tests of every model. Together they take every value of every choice.
std::vector<SkeletonOptions> SkeletonOptions::smallest() { return {{.width = 16, .context = 3}}; }

ModelOptions skeleton_options() { return SkeletonOptions{}; }

}  // namespace xlm
