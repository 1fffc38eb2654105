// The cost of a model before it is made.
#include "core/models/model_costs.h"

#include "core/kernels/step_context.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

/// A model whose weights have sizes but no numbers: their memory is not needed.
std::shared_ptr<LanguageModel> model_of_sizes(ModelOptions shape, std::int64_t symbols) {
  const SizesAlone sizes_alone(true);
  shape.set_pretrained("");
  return make_model(shape, symbols);
}

}  // namespace

NamedValues model_costs(const ModelOptions& options, std::int64_t symbols, std::int64_t block) {
  return model_of_sizes(options, symbols)->costs(block);
}

bool model_costs_are_measured(const ModelOptions& options, std::int64_t symbols) {
  return model_of_sizes(options, symbols)->costs_are_measured();
}

}  // namespace xlm
