// Which options of an optimiser go together.
#include "core/api/options.h"

namespace xlm {

std::optional<std::pair<std::string, std::string>> OptimizerOptions::problem() const {
  const auto only = [](const char* key, const char* owner) {
    return std::pair<std::string, std::string>{key, std::string("optimizer.") + key + " is an option of " + owner};
  };
  if (weight_decay > 0 && type != Type::kAdamW) return only("weight_decay", "optimizer.type=adamw");
  if (type == Type::kAdagrad) {
    if (beta1 > 0) return only("beta1", "adam and adamw");
    if (beta2 > 0) return only("beta2", "adam and adamw");
    if (epsilon > 0) return only("epsilon", "adam and adamw");
  }
  if (warmup_steps > 0 && warmup_ratio > 0) {
    return {{"warmup_ratio", "optimizer.warmup_steps and optimizer.warmup_ratio both give the warm-up: remove one"}};
  }
  if (min_lr_ratio > 0 && schedule == Schedule::kConstant) {
    return only("min_lr_ratio", "schedules that end lower, such as optimizer.schedule=cosine");
  }
  if (decay_ratio > 0 && schedule != Schedule::kWsd) return only("decay_ratio", "optimizer.schedule=wsd");
  return std::nullopt;
}

}  // namespace xlm
