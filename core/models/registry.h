// The only list of models. A new one adds its options header and one line to ModelOptions.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/models/adaptive_span_options.h"
#include "core/models/hourglass_options.h"

namespace xlm {

/// One alternative per model. Each has kType, kSummary, visit, paper_defaults, problem and make; some have
/// problem_with, which looks at the options of training too.
using ModelOptions = std::variant<AdaptiveSpanOptions, HourglassOptions>;

/// Calls `f` with a default-constructed options struct of every model.
template <class F, std::size_t... I>
void for_each_model(F&& f, std::index_sequence<I...> /*indices*/) {
  (f(std::variant_alternative_t<I, ModelOptions>{}), ...);
}
template <class F>
void for_each_model(F&& f) {
  for_each_model(std::forward<F>(f), std::make_index_sequence<std::variant_size_v<ModelOptions>>{});
}

/// The names of all models, in the order of the list.
inline std::vector<std::string> model_types() {
  std::vector<std::string> names;
  for_each_model([&](const auto& options) { names.emplace_back(options.kType); });
  return names;
}

/// Default options of the `index`-th model.
inline ModelOptions default_model_options(std::size_t index) {
  ModelOptions result;
  std::size_t i = 0;
  for_each_model([&](auto options) {
    if (i++ == index) result = options;
  });
  return result;
}

inline std::string model_type(const ModelOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.kType); }, options);
}

}  // namespace xlm
