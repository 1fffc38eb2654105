// What a model would cost.
#include "core/models/model_costs.h"

#include "core/models/language_model.h"
#include "core/nn/initial_weights.h"

namespace xlm {

NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block) {
  const SizesAlone sizes_alone;
  return make_model(options, symbols)->costs(block);
}

}  // namespace xlm
