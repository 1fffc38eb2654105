// A run's options as its file says them, before there are data.
#pragma once

#include <cstdint>

#include "base/yaml.h"
#include "experiments/configuration/configuration.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

inline constexpr std::int64_t kLongestTraining = 1'000'000'000'000;  // steps, as of train.steps

/// A run's options, with what its file says of lengths that only the data can turn into steps.
struct OpenRun {
  RunConfiguration options;
  SettingList open;  // train.epochs, train.tokens and train.eval_every_tokens, of those that are given
};

/// Reads the configuration of one run. Weights to start from, which a file may require, are left out as data are.
/// Throws UsageError as read_run_options.
OpenRun read_without_data(Yaml tree);

}  // namespace xlm
