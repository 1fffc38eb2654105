// What tests of fits of runs share: a store of runs that follow a law, and fits described in YAML.
#pragma once

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "results/exhibits/exhibits.h"
#include "results/fits/fit_text.h"
#include "tests/results/run_maker.h"

namespace xlm {

inline FitDescription fit_of(const std::string& yaml) {
  return read_fit_description(find_exhibits(parse_yaml(yaml, "fits.yaml"), ExhibitKind::kFit).front());
}

/// A law of compute: flops_per_token stands for C, and model.span tells settings apart.
inline const std::string kFitOfSpans =
    "fit: Loss against compute\nloss: test.bpc\nc: flops_per_token\ndraws: 100\npredict: {C: 1e8}\n";

class Fits : public ::testing::Test {
 protected:
  /// Two seeds of each span, whose bpc follows 1 + 200·C^(−0.4) with C = 10⁴·span, for "fixed" 0.1 more; seeds lie
  /// `apart` on both sides.
  void make_runs(const std::vector<int>& spans, double apart, const std::vector<std::string>& types = {"adaptive"}) {
    for (const std::string& type : types) {
      for (const int span : spans) {
        for (const int seed : {1, 2}) {
          const double compute = 1e4 * span;
          const double bpc = 1 + (type == "fixed" ? 0.1 : 0) + 200 * std::pow(compute, -0.4);
          maker_.make({.id = fmt::format("adaptive-span-text8-{:08x}", ++made_),
                       .type = type,
                       .span = span,
                       .seed = seed,
                       .bpc = bpc * (1 + (seed == 1 ? apart : -apart)),
                       .flops = compute});
        }
      }
    }
    store_.sync(maker_.runs());
  }

  /// Two budgets, 10⁶ and 10⁷, of sizes (spans) around the best ones, 128 and 512: bpc = 2 + 0.1·(ln N − ln best)².
  void make_budgets(const std::vector<int>& factors_of_two) {
    for (const bool large : {false, true}) {
      for (const int factor : factors_of_two) {
        const int best = large ? 512 : 128;
        const int span = factor < 0 ? best >> -factor : best << factor;
        const double away = std::log(static_cast<double>(span) / best);
        maker_.make({.id = fmt::format("adaptive-span-text8-{:08x}", ++made_),
                     .type = large ? "fixed" : "adaptive",
                     .span = span,
                     .bpc = 2 + 0.1 * away * away,
                     .flops = large ? 1e7 : 1e6});
      }
    }
    store_.sync(maker_.runs());
  }

  std::variant<FitResult, NothingToShow> built(const std::string& yaml) {
    RunTable runs(store_);
    return build_fit(runs, fit_of(yaml), {});
  }

  /// Why there is no fit, with what to do; "" if there is one.
  std::string refusal(const std::string& yaml) {
    const auto result = built(yaml);
    const auto* nothing = std::get_if<NothingToShow>(&result);
    return nothing == nullptr ? "" : nothing->message;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
  int made_ = 0;
};

}  // namespace xlm
