// For tests of figures: a store of two span types, two spans and two seeds, and figures of it.
#pragma once

#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "results/exhibits/exhibits.h"
#include "results/figures/figure_description.h"
#include "results/figures/figures.h"
#include "tests/results/run_maker.h"

namespace xlm {

inline FigureDescription spec_of(const std::string& yaml) {
  return read_figure_description(find_exhibits(parse_yaml(yaml, "description.yaml"), ExhibitKind::kFigure).front());
}

class Figures : public ::testing::Test {
 protected:
  Figures() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    store_.sync(maker_.runs());
  }

  std::variant<Figure, NothingToShow> built(const std::string& yaml) {
    RunTable runs(store_);
    return build_figure(runs, spec_of(yaml), {});
  }

  Figure figure(const std::string& yaml) { return std::get<Figure>(built(yaml)); }

  NothingToShow nothing(const std::string& yaml) { return std::get<NothingToShow>(built(yaml)); }

  /// A run of the experiment `noise` whose bpc jumps from step to step between two values, `above` higher than 1 and 3.
  void add_noisy_run(const std::string& id, int seed, double above) {
    const MadeRun noisy{.id = id, .experiment = "noise", .seed = seed};
    maker_.write_config(noisy);
    Journal out = maker_.journal(noisy);
    out.append("state", {{"state", "running"}, {"host", "here"}, {"pid", 42}});
    for (int step = 1; step <= 6; ++step)
      out.append("metric",
                 {{"step", step}, {"values", {{"bpc", (step % 2 == 0 ? 3.0 : 1.0) + above}, {"grad.norm", above}}}});
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

inline constexpr const char* kLine =
    "figure: Bpc against span\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\nx_scale: log\n";

}  // namespace xlm
