// Which evaluations of a run are its results.
#pragma once

#include "results/run_folder/run_folder.h"

namespace xlm {

/// The settings of an evaluation that differ from its run's own, or from the default if the run does not have them.
/// What a program's run does not have differs.
/// Other data are given by name, or by fingerprint if the name is the run's own.
SettingList differing_settings(const Run& run, const Json& settings);

/// Sets `at`, `main` and `carried` of all evaluations.
void choose_main_evaluations(Run& run);

}  // namespace xlm
