// Which options of an optimiser go together.
#include "core/api/options.h"

namespace xlm {

std::optional<std::pair<std::string, std::string>> OptimizerOptions::problem() const {
  const auto only = [](const char* key, const char* owner) {
    return std::pair<std::string, std::string>{key, std::string("optimizer.") + key + " is an option of " + owner};
  };
  const bool decays = type == Type::kAdamW || type == Type::kMuon;
  if (weight_decay > 0 && !decays) return only("weight_decay", "optimizer.type=adamw and muon");
  if (type != Type::kMuon) {
    if (momentum > 0) return only("momentum", "optimizer.type=muon");
    if (ns_steps > 0) return only("ns_steps", "optimizer.type=muon");
    if (adjust_lr != AdjustLr::kOriginal) return only("adjust_lr", "optimizer.type=muon");
    if (adamw_lr > 0) return only("adamw_lr", "optimizer.type=muon");
  }
  if (type == Type::kAdagrad) {
    if (beta1 > 0) return only("beta1", "adam, adamw and muon");
    if (beta2 > 0) return only("beta2", "adam, adamw and muon");
    if (epsilon > 0) return only("epsilon", "adam, adamw and muon");
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
