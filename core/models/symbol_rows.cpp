// Weights of another vocabulary.
#include "core/models/symbol_rows.h"

#include <memory>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "core/kernels/step_context.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

/// The shapes of the parameters of a model of so many symbols.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_for(const ModelOptions& options,
                                                                          std::int64_t symbols) {
  const SizesAlone sizes_alone(true);
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
  const std::shared_ptr<LanguageModel> model = make_model(options, symbols);
  for (const auto& [name, tensor] : model->weights()) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
}

/// What grows with the vocabulary has a place for each symbol. So no model has to say which of its tensors these are.
std::map<std::string, std::int64_t> places_of_symbols(ModelOptions options, std::int64_t symbols) {
  options.set_pretrained("");
  const auto shapes = shapes_for(options, symbols);
  const auto grown = shapes_for(options, symbols + 1);
  std::map<std::string, std::int64_t> places;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [name, shape] = shapes[i];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (grown[i].second[d] != shape[d]) places[name] = static_cast<std::int64_t>(d);
    }
  }
  return places;
}

}  // namespace

SymbolRows common_rows(const Vocabulary& other, const Vocabulary& own, const ModelOptions& options,
                       const std::string& source) {
  if (other.unit != own.unit) {
    throw DataError(
        fmt::format("model.init_from: {} is for {}, and the data consist of {}\n"
                    "prepare the text again with --unit {}",
                    source, units_name(other.unit), units_name(own.unit), unit_name(other.unit)));
  }
  std::unordered_map<std::string_view, std::int64_t> ids;
  for (const std::string& symbol : other.symbols) ids.emplace(symbol, static_cast<std::int64_t>(ids.size()));
  SymbolRows rows{.from = {}, .to = {}, .symbols = other.size(), .places = places_of_symbols(options, own.size())};
  for (std::int64_t id = 0; id < own.size(); ++id) {
    const auto found = ids.find(own.symbols[static_cast<std::size_t>(id)]);
    if (found == ids.end()) continue;
    rows.from.push_back(found->second);
    rows.to.push_back(id);
  }
  if (rows.from.empty()) {
    throw DataError(
        fmt::format("model.init_from: {} and the data have no symbol in common\n"
                    "begin from random weights, or prepare the text with symbols of that model",
                    source));
  }
  return rows;
}

}  // namespace xlm
