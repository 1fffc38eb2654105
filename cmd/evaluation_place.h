// What the commands that evaluate share: which data, which split.
#pragma once

#include <string>

#include "experiments/model_place.h"

namespace xlm {

/// The data folder `given`, or the one that the model's run was trained on. Throws UsageError when there is neither,
/// DataError when it is not there.
std::string evaluation_data(const std::string& given, const ModelPlace& place);

/// Throws UsageError when `split` is none of train, valid and test.
void check_split(const std::string& split);

}  // namespace xlm
