// Learning-rate schedules.
//
// n the step, N all steps, W those of warm-up, D those of the linear end of wsd.
#include "core/api/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace xlm {
namespace {

using Schedule = OptimizerOptions::Schedule;

constexpr double kDecayRatio = 0.2;

/// The share of the rate that falls with the schedule, 1 at its beginning and 0 at its end.
double scheduled(const OptimizerOptions& options, double n, double all, double warmup) {
  const double rest = std::max(1.0, all - warmup);
  switch (options.schedule) {
    case Schedule::kConstant:
      break;
    case Schedule::kCosine:
      return 0.5 * (1 + std::cos(std::numbers::pi * (n - warmup) / rest));
    case Schedule::kHalfCosine:  // over all steps, warm-up included
      return std::cos(0.5 * std::numbers::pi * (n - 1) / all);
    case Schedule::kLinear:
      return 1 - (n - warmup) / rest;
    case Schedule::kWsd: {
      const double ratio = options.decay_ratio > 0 ? options.decay_ratio : kDecayRatio;
      return std::min(1.0, (all - n) / std::max(1.0, std::round(ratio * all)));
    }
  }
  return 1;
}

}  // namespace

double learning_rate(const OptimizerOptions& options, std::int64_t step, double steps) {
  if (options.drop_after > 0 && step > options.drop_after) {
    OptimizerOptions undropped = options;
    undropped.drop_after = 0;
    return options.drop_factor * learning_rate(undropped, step, steps);
  }
  const auto n = static_cast<double>(step);
  const double all = steps;
  const double warmup =
      options.warmup_ratio > 0 ? options.warmup_ratio * all : static_cast<double>(options.warmup_steps);
  // During warm-up the other schedules stand at their beginning; this one falls from the first step on.
  const bool from_first = options.schedule == Schedule::kHalfCosine;
  const double share = n < warmup && !from_first ? 1 : scheduled(options, n, all, warmup);
  const double rate = options.lr * (options.min_lr_ratio + (1 - options.min_lr_ratio) * share);
  return n < warmup ? rate * n / warmup : rate;
}

}  // namespace xlm
