// What a figure file says.
#include "results/figures/figure_description.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

void check(const FigureDescription& description) {
  const auto refuse = [&](const std::string& message) {
    throw UsageError(fmt::format("{}: the figure '{}' {}", description.place, description.title, message));
  };
  const bool heatmap = description.kind == FigureDescription::Kind::kHeatmap;
  if (!description.grid.empty()) {
    if (description.grid != "spans") {
      refuse(fmt::format("asks for the grid '{}'{}; there is: spans", description.grid,
                         did_you_mean(description.grid, {"spans"})));
    }
    if (!heatmap && description.kind != FigureDescription::Kind::kScatter)
      refuse("shows a grid, so its kind must be heatmap or scatter");
    if (!description.x.empty() || !description.y.empty() || !description.series.empty())
      refuse("shows a grid, so it has no x, y or series");
    if (description.front) refuse("shows a grid, which has no Pareto front");
    return;
  }
  if (description.kind == FigureDescription::Kind::kText) {
    if (description.y.empty()) refuse("shows a text, so it needs y: what the model says of every token (span)");
    if (!description.x.empty() || !description.value.empty())
      refuse("shows a text, which stands where x would; it has no x or value");
    if (description.front) refuse("shows a text, which has no Pareto front");
    if (description.x_scale == FigureDescription::Scale::kLog) refuse("shows a text, which has no log scale on x");
    return;
  }
  if (description.x.empty() || description.y.empty()) refuse("needs x and y (columns of the store), or a grid");
  if (heatmap && description.value.empty()) refuse("is a heatmap, so it needs 'value', the column that colours show");
  if (!heatmap && !description.value.empty()) refuse("has a 'value', which only a heatmap shows");
  if (heatmap && !description.series.empty()) refuse("is a heatmap, which has no series");
  if (description.front && description.kind != FigureDescription::Kind::kScatter &&
      description.kind != FigureDescription::Kind::kLine) {
    refuse("can show a Pareto front only as scatter or line");
  }
  const bool plain_x = description.kind == FigureDescription::Kind::kBars || heatmap;
  if (plain_x && description.x_scale == FigureDescription::Scale::kLog)
    refuse("has places side by side on x, which has no log scale");
}

}  // namespace

const std::vector<std::string>& figure_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"figure", "where"};
    OptionLister lister;
    FigureDescription().visit(lister);
    for (const OptionEntry& entry : lister.entries()) names.push_back(entry.key);
    return names;
  }();
  return keys;
}

FigureDescription read_figure_description(const Yaml& node) {
  refuse_unknown(node, figure_keys());
  FigureDescription description;
  description.place = node.where();
  const Yaml* title = node.find("figure");
  if (title == nullptr) throw UsageError(fmt::format("{}: the figure has no title (figure: TITLE)", node.where()));
  description.title = scalar_text(*title, "figure");
  if (const Yaml* where = node.find("where")) description.where = read_filters(*where);
  Yaml options = node;
  options.take("figure");
  options.take("where");
  OptionReader reader(options);
  description.visit(reader);
  reader.finish();
  if (description.name.empty()) description.name = name_from_title(description.title);
  if (description.name.empty()) description.name = "figure";
  if (description.name.find('/') != std::string::npos) {
    throw UsageError(fmt::format("{}: name is '{}', it must be a file name without folders", node.find("name")->where(),
                                 description.name));
  }
  check(description);
  return description;
}

}  // namespace xlm
