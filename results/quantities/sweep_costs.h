// What runs cost their owner, as columns of the store.
#pragma once

#include <array>
#include <string_view>

namespace xlm {

inline constexpr std::array<const char*, 6> kSweepCosts{"processor_hours",  "gpu_hours", "training_flops",
                                                        "evaluation_flops", "energy",    "energy_gpu"};

/// What the run itself spent: a run that goes on from another's checkpoint inherits the arithmetic behind that.
inline double own_cost(std::string_view name, double value, double inherited_flops) {
  return name == "training_flops" ? value - inherited_flops : value;
}

}  // namespace xlm
