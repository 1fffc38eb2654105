// The cost of a model before it is made.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// LanguageModel::costs of a model that is never made: its weights have sizes but no numbers, so that even a model that
/// no machine could hold takes no memory. Throws as make_model does.
NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block);

/// LanguageModel::costs_are_measured of a model that is never made.
bool model_costs_are_measured(const ModelOptions& options, std::int64_t symbols);

}  // namespace xlm
