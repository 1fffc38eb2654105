// The options of a model.
#include "core/api/model_options.h"

#include "core/api/model_list.h"

namespace xlm {

ModelOptions::ModelOptions() : ModelOptions(default_model_options(0)) {}

std::optional<std::string> ModelOptions::pretrained() const {
  const std::string* folder = held_->pretrained();
  return folder != nullptr ? std::optional(*folder) : std::nullopt;
}

void ModelOptions::set_pretrained(const std::string& folder) {
  if (std::string* own = held_->pretrained()) *own = folder;
}

}  // namespace xlm
