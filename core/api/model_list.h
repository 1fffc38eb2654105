// The available models, by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/api/model_options.h"

namespace xlm {

/// The names of all models, in the order of the list (core/api/models.def).
const std::vector<std::string>& model_types();

/// Default options of the `index`-th model.
const ModelOptions& default_model_options(std::size_t index);

}  // namespace xlm
