// Reads the keys that say how a figure looks.
#include "results/figures/figure_looks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

std::string look_text(const Yaml& node, const std::string& what) {
  if (!node.is_scalar()) throw UsageError(fmt::format("{}: {} is a text", node.where(), what));
  return node.scalar;
}

double look_number(const Yaml& node, const std::string& what) {
  double number = 0;
  if (!node.is_scalar() || !parse_real(node.scalar, number) || !std::isfinite(number)) {
    throw UsageError(fmt::format("{}: {} is a number", node.where(), what));
  }
  return number;
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

/// The maps of a list, which have some keys and no others.
std::vector<Yaml> look_maps(const Yaml& node, const std::string& name, const std::vector<std::string>& keys) {
  if (node.is_null()) return {};
  const std::string expected = fmt::format("{} is a list of maps with {}", name, join(keys, ", "));
  if (!node.is_sequence()) throw UsageError(fmt::format("{}: {}", node.where(), expected));
  for (const Yaml& item : node.items) {
    if (!item.is_map()) throw UsageError(fmt::format("{}: {}", item.where(), expected));
    refuse_unknown(item, keys);
  }
  return node.items;
}

std::vector<ReferenceLine> read_references(const Yaml& node) {
  std::vector<ReferenceLine> lines;
  for (const Yaml& item : look_maps(node, "references", {"x", "y", "label"})) {
    ReferenceLine line;
    if (const Yaml* x = item.find("x")) line.x = look_number(*x, "x of a reference line");
    if (const Yaml* y = item.find("y")) line.y = look_number(*y, "y of a reference line");
    if (const Yaml* label = item.find("label")) line.label = look_text(*label, "the label of a reference line");
    if (line.x.has_value() == line.y.has_value()) {
      throw UsageError(fmt::format("{}: a reference line needs either x or y", item.where()));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

FigureLooks read_looks(Yaml& options) {
  FigureLooks looks;
  looks.legend = read_keys<LegendKeys>(options.take("legend"), "place");
  looks.facet = read_keys<FacetKeys>(options.take("facet"), "by");
  looks.labels = read_labels(options.take("labels"));
  looks.order = read_order(options.take("order"));
  looks.references = read_references(options.take("references"));
  return looks;
}

std::string renamed(const FigureLooks& looks, const std::string& label) {
  const auto found =
      std::find_if(looks.labels.begin(), looks.labels.end(), [&](const auto& entry) { return entry.first == label; });
  return found == looks.labels.end() ? label : found->second;
}

}  // namespace xlm
