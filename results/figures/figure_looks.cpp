// Reads the keys that say how a figure looks.
#include "results/figures/figure_looks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

std::string look_text(const Yaml& node, const std::string& what) {
  if (!node.is_scalar()) throw UsageError(fmt::format("{}: {} is a text", node.where(), what));
  return node.scalar;
}

/// Keys from a map, or from the value of the first of them alone.
template <class Keys>
Keys read_keys(const Yaml& node, const std::string& first) {
  Keys keys;
  if (node.is_null()) return keys;
  Yaml map = node;
  if (node.is_scalar()) {
    map = Yaml();
    map.kind = Yaml::Kind::kMap;
    map.source = node.source;
    map.line = node.line;
    map.set(first, node);
  }
  OptionReader reader(map);
  keys.visit(reader);
  reader.finish();
  return keys;
}

std::vector<std::pair<std::string, std::string>> read_labels(const Yaml& node) {
  std::vector<std::pair<std::string, std::string>> labels;
  if (node.is_null()) return labels;
  if (!node.is_map()) {
    throw UsageError(fmt::format("{}: labels is a map from values to the texts shown for them", node.where()));
  }
  for (const auto& [value, text] : node.entries) labels.emplace_back(value, look_text(text, "a label"));
  return labels;
}

std::vector<std::string> read_order(const Yaml& node) {
  std::vector<std::string> order;
  if (node.is_null()) return order;
  if (!node.is_sequence()) throw UsageError(fmt::format("{}: order is a list of values or labels", node.where()));
  for (const Yaml& item : node.items) order.push_back(look_text(item, "an item of order"));
  return order;
}

}  // namespace

FigureLooks read_looks(Yaml& options) {
  FigureLooks looks;
  looks.legend = read_keys<LegendKeys>(options.take("legend"), "place");
  looks.facet = read_keys<FacetKeys>(options.take("facet"), "by");
  looks.labels = read_labels(options.take("labels"));
  looks.order = read_order(options.take("order"));
  return looks;
}

std::string renamed(const FigureLooks& looks, const std::string& label) {
  const auto found =
      std::find_if(looks.labels.begin(), looks.labels.end(), [&](const auto& entry) { return entry.first == label; });
  return found == looks.labels.end() ? label : found->second;
}

}  // namespace xlm
