// The table of models, made from the list in models.def.
#include "core/api/model_list.h"

namespace xlm {

#define XLM_MODEL(name) ModelOptions name##_options();
#include "core/api/models.def"
#undef XLM_MODEL

namespace {

const std::vector<ModelOptions>& defaults_of_all() {
  static const std::vector<ModelOptions> table{
#define XLM_MODEL(name) name##_options(),
#include "core/api/models.def"
#undef XLM_MODEL
  };
  return table;
}

}  // namespace

const std::vector<std::string>& model_types() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> types;
    for (const ModelOptions& options : defaults_of_all()) types.push_back(options.type());
    return types;
  }();
  return names;
}

const ModelOptions& default_model_options(std::size_t index) { return defaults_of_all().at(index); }

}  // namespace xlm
