// The keys at the top of a recipe's file. Its run is read in experiments/configuration, its sweep in
// experiments/sweeps, its exhibits in results/exhibits; each must know the keys of the others to find misspelt ones.
#pragma once

#include <array>
#include <string_view>

namespace xlm {

/// Of a run. They are declared again as options, with their types; a test compares them.
inline constexpr std::array<std::string_view, 13> kRunKeys{"experiment", "data",   "model",   "optimizer", "train",
                                                           "continue",   "eval",   "results", "program",   "options",
                                                           "seed",       "device", "require"};

/// What a recipe's file says besides the run.
inline constexpr std::array<std::string_view, 15> kKeysBesidesRun{
    "sweep",   "evaluate",     "corpora",       "resources", "profiles", "table", "tables", "figure",
    "figures", "continuation", "continuations", "claim",     "claims",   "fit",   "fits"};

}  // namespace xlm
