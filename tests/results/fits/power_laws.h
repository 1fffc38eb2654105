// What tests of fits share: losses of made-up laws, with and without noise.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "results/fits/law_estimate.h"

namespace xlm {

/// E + A·C^(−α) with numbers as small byte models have them.
inline PowerLaw compute_law() { return {.floor = 1.2, .terms = {{300, 0.2}}}; }

/// E + A·N^(−α) + B·D^(−β).
inline PowerLaw size_and_data_law() { return {.floor = 1.7, .terms = {{50, 0.34}, {100, 0.28}}}; }

/// Runs of a law at `places`, `seeds` at each. `noise`: standard deviation of a run's log loss.
inline LossPoints made_losses(const PowerLaw& law, const std::vector<std::vector<double>>& places, int seeds,
                              double noise, std::mt19937_64& random) {
  std::normal_distribution<double> error(0, 1);
  LossPoints points;
  for (std::size_t setting = 0; setting < places.size(); ++setting) {
    for (int seed = 0; seed < seeds; ++seed) {
      points.x.push_back(places[setting]);
      points.loss.push_back(law.at(places[setting]) * std::exp(noise * error(random)));
      points.setting.push_back(setting);
    }
  }
  return points;
}

/// Six budgets over three orders of magnitude.
inline std::vector<std::vector<double>> six_budgets() {
  std::vector<std::vector<double>> places;
  for (int i = 0; i < 6; ++i) places.push_back({1e12 * std::pow(10, 0.6 * i)});
  return places;
}

/// Four sizes, each trained with three budgets of 6·N·D FLOPs.
inline std::vector<std::vector<double>> sizes_and_budgets() {
  std::vector<std::vector<double>> places;
  for (const double size : {1e5, 3e5, 1e6, 3e6}) {
    for (const double budget : {1e13, 3e13, 1e14}) places.push_back({size, budget / (6 * size)});
  }
  return places;
}

}  // namespace xlm
