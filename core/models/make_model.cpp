// Makes a model from its options, by the list of models in core/api/models.def.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "core/api/model_list.h"
#include "core/kernels/step_context.h"
#include "core/models/capabilities.h"

namespace xlm {

#define XLM_MODEL(name) std::shared_ptr<LanguageModel> make_##name(const ModelOptions& options, std::int64_t symbols);
#include "core/api/models.def"
#undef XLM_MODEL

std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, std::int64_t symbols) {
  static constexpr std::array kMakers{
  // in the order of model_types()
#define XLM_MODEL(name) make_##name,
#include "core/api/models.def"
#undef XLM_MODEL
  };
  if (const auto problem = options.problem()) throw UsageError("model." + problem->first + ": " + problem->second);
  const std::vector<std::string>& types = model_types();
  const auto found = std::ranges::find(types, options.type());
  if (found == types.end()) throw UsageError("model.type: this program has no model '" + options.type() + "'");
  return kMakers.at(static_cast<std::size_t>(found - types.begin()))(options, symbols);
}

std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, const Vocabulary& vocabulary) {
  std::shared_ptr<LanguageModel> model = make_model(options, vocabulary.size());
  if (auto* needs = capability<NeedsVocabulary>(*model)) needs->set_vocabulary(vocabulary);
  return model;
}

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
