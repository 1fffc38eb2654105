// Axes of a sweep that do not seem to reach the program whose runs they are.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A warning for each option, and for the seed where runs differ in it, if no placeholder of the command, the
/// environment or the paths of metrics names it, while others are named, and the program's code does not read the
/// variables that hold it. The same for what several evaluations by one command differ in. A program that is not part
/// of its code may read them all the same.
std::vector<std::string> unreached_axes(const std::vector<SweepRun>& runs);

}  // namespace xlm
