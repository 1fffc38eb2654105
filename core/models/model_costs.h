// What a model would cost, before there is one.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// LanguageModel::costs of a model that is never made: its weights have sizes and no numbers, so that it takes no
/// memory to ask of one that no machine could hold. Throws as make_model does.
NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block);

}  // namespace xlm
