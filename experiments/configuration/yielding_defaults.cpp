// Defaults that give way to what the user wrote.
#include "experiments/configuration/yielding_defaults.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/api/learning_rate.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

constexpr std::int64_t kWarmupPart = 10;     // an unwritten warm-up takes at most this part of all steps
constexpr std::int64_t kLongWarmupPart = 2;  // a written one is remarked on if it takes more than this part

bool is_written(const Yaml& tree, const std::string& key) { return find_path(tree, key) != nullptr; }

/// Gives an option the value with which it does nothing.
void turn_off(OptimizerOptions& optimizer, const std::string& key) {
  OptimizerOptions plain;
  OptionLister lister;
  plain.visit(lister);
  Yaml tree = make_map("defaults");
  for (const OptionEntry& entry : lister.entries()) {
    if (entry.key == key) tree.set(key, yaml_from_json(entry.value, "defaults"));
  }
  OptionReader reader(tree);
  optimizer.visit(reader);
}

}  // namespace

void yield_to_written(const Yaml& tree, RunOptions& options) {
  OptimizerOptions& optimizer = options.optimizer;
  const bool steps_given = is_written(tree, "optimizer.warmup_steps");
  const bool ratio_given = is_written(tree, "optimizer.warmup_ratio");
  if (steps_given && !ratio_given) optimizer.warmup_ratio = 0;
  if (ratio_given && !steps_given && optimizer.warmup_ratio > 0) optimizer.warmup_steps = 0;
  for (auto wrong = optimizer.problem(); wrong; wrong = optimizer.problem()) {
    if (is_written(tree, "optimizer." + wrong->first)) break;  // refused later
    turn_off(optimizer, wrong->first);
  }
  EvalOptions& eval = options.eval;
  const bool follows_block = options.model.scheme() == TextScheme::kRandomWindows;
  if (follows_block && !is_written(tree, "eval.context")) eval.context = options.train.block;
  if (is_written(tree, "eval.stride")) return;
  eval.stride = follows_block ? eval.context : std::min(eval.stride, eval.context);
}

void shorten_warmup(const Yaml& tree, RunOptions& options) {
  const std::int64_t steps = options.train.steps;
  if (steps == 0 || is_written(tree, "optimizer.warmup_steps")) return;
  options.optimizer.warmup_steps = std::min(options.optimizer.warmup_steps, steps / kWarmupPart);
}

std::string warmup_note(const OptimizerOptions& optimizer, double steps) {
  const bool by_ratio = optimizer.warmup_ratio > 0;
  const double warmup = by_ratio ? optimizer.warmup_ratio * steps : static_cast<double>(optimizer.warmup_steps);
  if (steps == 0 || warmup * kLongWarmupPart <= steps) return "";
  const auto top = static_cast<std::int64_t>(std::max(1.0, std::min(warmup, steps)));
  return fmt::format(
      "the warm-up takes {} of {:.0f} steps: the highest learning rate is {:.3g}, and optimizer.lr is {:g}\n"
      "a tenth of the steps is usual: optimizer.{}",
      by_ratio ? fmt::format("{:g}", optimizer.warmup_ratio) : fmt::to_string(optimizer.warmup_steps), steps,
      learning_rate(optimizer, top, steps), optimizer.lr,
      by_ratio ? "warmup_ratio=0.1" : fmt::format("warmup_steps={:.0f}", std::floor(steps / kWarmupPart)));
}

}  // namespace xlm
