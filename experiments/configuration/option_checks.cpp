// Whether the options of a run say all that it needs, and go together.
#include "experiments/configuration/option_checks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

bool is_device(std::string_view text) {
  if (text == "cpu" || text == "cuda" || text == "auto") return true;
  std::int64_t index = -1;
  return text.substr(0, 5) == "cuda:" && parse_integer(text.substr(5), index) && index >= 0;
}

void check_device(const Yaml& tree, const std::string& device) {
  if (is_device(device)) return;
  fail_at_key(tree, "device", fmt::format("device is '{}', it must be cpu, cuda, cuda:N or auto", device));
}

/// A step alone would change nothing but the id.
void check_continues(const Yaml& tree, const ContinueOptions& continues) {
  if (!continues.run.empty() || (continues.at == 0 && continues.text == ContinueOptions::Text::kContinue)) return;
  fail_at_key(tree, "continue", "continue.run is missing: the run that training goes on from\nadd continue.run=RUN");
}

}  // namespace

void fail_at_key(const Yaml& tree, std::string_view key, const std::string& message) {
  const Yaml* node = find_path(tree, key);
  for (std::string above(key); node == nullptr && above.find('.') != std::string::npos;) {
    above.resize(above.rfind('.'));
    node = find_path(tree, above);
  }
  throw UsageError(fmt::format("{}: {}", (node == nullptr ? tree : *node).where(), message));
}

void check_required(const Yaml& tree, const RunOptions& options) {
  if (options.data.path.empty()) {
    fail_at_key(tree, "data.path", "data.path is missing\nadd it: a folder made by xlm prepare-data");
  }
  const TrainOptions& train = options.train;
  std::vector<std::string> lengths;
  if (train.steps > 0) lengths.emplace_back("train.steps");
  if (train.epochs > 0) lengths.emplace_back("train.epochs");
  if (train.tokens > 0) lengths.emplace_back("train.tokens");
  if (train.flops > 0) lengths.emplace_back("train.flops");
  if (train.seconds > 0) lengths.emplace_back("train.seconds");
  if (lengths.empty()) {
    fail_at_key(tree, "train.steps",
                "train.steps is missing\nadd the number of updates, or train.epochs, train.tokens, train.flops or "
                "train.seconds");
  }
  constexpr const char* kHow = "leave one out; 0 takes away what the file says";
  if (lengths.size() > 1) {
    fail_at_key(tree, lengths[1],
                fmt::format("{} and {} both say how long training is\n{}", lengths[0], lengths[1], kHow));
  }
  if (train.eval_every > 0 && train.eval_every_tokens > 0) {
    fail_at_key(tree, "train.eval_every_tokens",
                fmt::format("train.eval_every and train.eval_every_tokens both say when to evaluate\n{}", kHow));
  }
}

void check_together(const Yaml& tree, const RunOptions& options) {
  const TrainOptions& train = options.train;
  std::optional<OptionProblem> problem = options.model.problem();
  if (!problem) problem = options.model.problem_with(train);
  if (!problem) problem = options.model.problem_with(options.eval);
  if (problem) fail_at_key(tree, "model." + problem->first, problem->second);
  if (const auto wrong = options.optimizer.problem()) fail_at_key(tree, "optimizer." + wrong->first, wrong->second);
  if (train.block < 1) fail_at_key(tree, "train.block", "train.block is 0, it must be at least 1");
  if (train.processes > train.batch) {
    fail_at_key(tree, "train.processes",
                fmt::format("train.processes ({}) share the rows of train.batch ({}), and each needs one",
                            train.processes, train.batch));
  }
  if (train.micro_batch > train.batch || (train.micro_batch > 0 && train.batch % train.micro_batch != 0)) {
    fail_at_key(tree, "train.micro_batch",
                fmt::format("train.micro_batch ({}) must divide train.batch ({})", train.micro_batch, train.batch));
  }
  const OptimizerOptions& optimizer = options.optimizer;
  if (optimizer.schedule != OptimizerOptions::Schedule::kConstant && train.steps > 0 &&
      optimizer.warmup_steps >= train.steps) {
    fail_at_key(tree, "optimizer.warmup_steps",
                fmt::format("optimizer.warmup_steps ({}) must be less than train.steps ({}) with the cosine schedule",
                            optimizer.warmup_steps, train.steps));
  }
  check_device(tree, options.device);
  check_continues(tree, options.continues);
  if (options.eval.stride > options.eval.context) {
    fail_at_key(tree, "eval.stride",
                fmt::format("eval.stride ({}) must not be more than eval.context ({}), which holds it",
                            options.eval.stride, options.eval.context));
  }
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.in_range) continue;
    fail_at_key(
        tree, entry.key,
        fmt::format("{} is {}, as other values say, and it must be {}", entry.key, entry.value.dump(), entry.range));
  }
}

void check_processes(const RunOptions& options, std::string_view device) {
  if (device != "cpu" || options.train.processes == 1) return;
  throw UsageError(
      fmt::format("train.processes={}: several processes do one run on GPUs, one on each, and this run is on the CPU\n"
                  "leave train.processes out: one process uses all cores (train.threads). Or ask for GPUs: device=cuda",
                  options.train.processes));
}

void check_program_run(const Yaml& tree, const RunConfiguration& run) {
  check_device(tree, run.device);
  check_continues(tree, run.continues);
}

}  // namespace xlm
