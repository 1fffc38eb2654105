// The model that another has inside.
#include "core/train/inner_model.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/options.h"
#include "base/yaml.h"
#include "core/api/model_list.h"
#include "core/models/capabilities.h"
#include "core/models/model_folder.h"

namespace xlm {
namespace {

/// What config.yaml of a model folder says of the model. Throws DataError if it names no type of model.
ModelOptions options_of_folder(const fs::path& folder) {
  const fs::path file = folder / "config.yaml";
  const Yaml tree = read_yaml(file);
  const Yaml* model = tree.is_map() ? tree.find("model") : nullptr;
  const Yaml* type = model != nullptr && model->is_map() ? model->find("type") : nullptr;
  const std::vector<std::string>& types = model_types();
  const auto found = type == nullptr ? types.end() : std::ranges::find(types, type->scalar);
  if (found == types.end()) throw DataError(fmt::format("{} does not say which model.type it is of", file.string()));
  ModelOptions options = default_model_options(static_cast<std::size_t>(found - types.begin()));
  OptionReader reader(*model);
  options.visit(reader);
  return options;
}

}  // namespace

bool needs_inner_model(const LanguageModel& model) {
  const auto* holds = capability<HoldsInnerModel>(model);
  return holds != nullptr && !holds->inner_model().empty();
}

std::string take_inner_model(LanguageModel& model, const PreparedData& data, const TokenSource& text,
                             std::int64_t block) {
  constexpr std::int64_t kMaxWindows = 64;
  auto& holds = *capability<HoldsInnerModel>(model);
  const SourceWeights inner = source_weights(holds.inner_model());
  if (inner.vocabulary != data.vocabulary) {
    throw DataError(fmt::format("model.boundaries.model: {} has other symbols than {}\ntrain it on the same data",
                                inner.name, data.path.string()));
  }
  holds.check_inner_options(options_of_folder(holds.inner_model()), inner.name);
  holds.take_inner_model(inner.tensors, inner.name);
  const std::int64_t length = std::max<std::int64_t>(1, std::min(block - 1, text.size()));
  const std::int64_t windows = std::min(kMaxWindows, text.size() / length);
  if (windows == 0) throw DataError(fmt::format("{} has no text to choose boundaries by", data.path.string()));
  const torch::Tensor beginnings = torch::full({windows, 1}, kBeginning, torch::kLong);
  return "note: " + holds.fit_inner_model(torch::cat({beginnings, text.rows(windows, 0, length, length)}, 1));
}

}  // namespace xlm
