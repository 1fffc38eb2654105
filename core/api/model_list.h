// The only list of models. A new one adds its options header and one line to ModelOptions.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"

namespace xlm {

/// One alternative per model. Each has kType, kScheme, kSummary, visit, paper_defaults, problem and make; some have
/// problem_with, which looks at the options of training too, complete, which fills in what depends on other options,
/// and adopt, which takes a model's shape from a config.json.
using ModelOptions = std::variant<AdaptiveSpanOptions, HourglassOptions, Gpt2Options>;

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

/// The folder of another program's model that a model is made from; nothing where the model has no such option.
inline std::optional<std::string> pretrained_of(const ModelOptions& options) {
  return std::visit(
      [](const auto& own) -> std::optional<std::string> {
        if constexpr (requires { own.pretrained; }) return own.pretrained;
        return std::nullopt;
      },
      options);
}

inline void set_pretrained(ModelOptions& options, const std::string& folder) {
  std::visit(
      [&](auto& own) {
        if constexpr (requires { own.pretrained; }) own.pretrained = folder;
      },
      options);
}

/// Sets T and O of a model that reads a text in windows; false where it does not.
inline bool set_windows(ModelOptions& options, std::int64_t window, std::int64_t overlap) {
  return std::visit(
      [&](auto& own) {
        if constexpr (requires { own.overlap; }) {
          own.window = window;
          own.overlap = overlap;
          return true;
        }
        return false;
      },
      options);
}

/// Whether such a model carries something from window to window.
inline bool has_window_state(const ModelOptions& options) {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.recurrent(); }) return own.recurrent();
        return false;
      },
      options);
}

inline TextScheme text_scheme(const ModelOptions& options) {
  return std::visit([](const auto& own) { return own.kScheme; }, options);
}

inline std::string model_type(const ModelOptions& options) {
  return std::visit([](const auto& o) { return std::string(o.kType); }, options);
}

}  // namespace xlm
