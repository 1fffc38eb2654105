// Runs whose learning rate was tuned, for tests of choices: what is best on validation is not best on test.
#pragma once

#include <string>

#include <fmt/format.h>

#include "tests/results/run_maker.h"

namespace xlm {

/// Runs of the experiment `tuned`, two seeds of each setting:
///
///   span  rate  validation → mean   test → mean
///   64    0.01  1.30, 1.34 → 1.32   1.50, 1.52 → 1.51
///   64    0.02  1.20, 1.40 → 1.30   1.60, 1.62 → 1.61   the best on validation
///   64    0.04  1.00, diverged      1.40
///   256   0.01  1.10, 1.12 → 1.11   1.20, 1.24 → 1.22   the best on validation
///   256   0.02  1.15, 1.15 → 1.15   1.10, 1.12 → 1.11
inline void make_tuned_runs(RunMaker& maker) {
  int number = 0;
  const auto make = [&](int span, double lr, int seed, double valid, double test, const std::string& state = "done") {
    maker.make({.id = fmt::format("adaptive-span-text8-{:08x}", 0x700 + ++number),
                .experiment = "tuned",
                .span = span,
                .seed = seed,
                .bpc = test,
                .flops = 1e6 * span,
                .state = state,
                .lr = lr,
                .valid = valid});
  };
  make(64, 0.01, 1, 1.30, 1.50);
  make(64, 0.01, 2, 1.34, 1.52);
  make(64, 0.02, 1, 1.20, 1.60);
  make(64, 0.02, 2, 1.40, 1.62);
  make(64, 0.04, 1, 1.00, 1.40);
  make(64, 0.04, 2, 1.00, 1.40, "diverged");
  make(256, 0.01, 1, 1.10, 1.20);
  make(256, 0.01, 2, 1.12, 1.24);
  make(256, 0.02, 1, 1.15, 1.10);
  make(256, 0.02, 2, 1.15, 1.12);
}

}  // namespace xlm
