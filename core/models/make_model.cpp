// Makes a model from its options; the list of models itself is in registry.h.
#include "core/api/model_list.h"

#include "base/error.h"
#include "core/models/language_model.h"

namespace xlm {

std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, std::int64_t symbols) {
  return std::visit(
      [&](const auto& own) {
        if (const auto problem = own.problem()) throw UsageError("model." + problem->first + ": " + problem->second);
        return own.make(symbols);
      },
      options);
}

std::shared_ptr<LanguageModel> make_model(const ModelOptions& options, const Vocabulary& vocabulary) {
  std::shared_ptr<LanguageModel> model = make_model(options, vocabulary.size());
  model->set_vocabulary(vocabulary);
  return model;
}

}  // namespace xlm
