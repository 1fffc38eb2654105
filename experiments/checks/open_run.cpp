// A run's options as its file says them, before there are data.
#include "experiments/checks/open_run.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "experiments/sweeps/point_source.h"

namespace xlm {
namespace {

/// Lengths that only the data can turn into steps.
constexpr std::array<const char*, 3> kOpenLengths{"train.epochs", "train.tokens", "train.eval_every_tokens"};

double length_at(const Yaml& tree, const char* key) {
  const Yaml* node = find_path(tree, key);
  const Json value = node == nullptr ? Json() : to_json(*node);
  return value.is_number() ? value.get<double>() : 0;
}

}  // namespace

OpenRun read_without_data(Yaml tree) {
  tree.take("require");
  tree = with_source_as_text(std::move(tree));
  OpenRun run;
  const bool has_steps = length_at(tree, "train.steps") > 0;
  for (const char* key : kOpenLengths) {
    const double value = length_at(tree, key);
    const bool is_interval = std::string_view(key) == kOpenLengths.back();
    const bool clashes = is_interval ? length_at(tree, "train.eval_every") > 0 : has_steps || !run.open.empty();
    if (value <= 0 || clashes) continue;  // a clash is complained of when the options are read
    run.open.emplace_back(key, to_json(*find_path(tree, key)));
    tree.set(key, make_scalar("0", *tree.source));
    if (!is_interval) tree.set("train.steps", make_scalar(fmt::to_string(kLongestTraining), *tree.source));
  }
  run.options = read_run_options(tree);
  return run;
}

}  // namespace xlm
