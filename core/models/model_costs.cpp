// The cost of a model before it is made.
#include "core/models/model_costs.h"

#include "core/models/language_model.h"
#include "core/nn/initial_weights.h"

namespace xlm {

NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block) {
  const SizesAlone sizes_alone;
  ModelOptions shape = options;
  shape.set_pretrained("");  // weights, and their memory, are not needed
  return make_model(shape, symbols)->costs(block);
}

}  // namespace xlm
