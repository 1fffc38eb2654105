// What a figure file says.
#include "results/figure_spec.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

void check(const FigureSpec& spec) {
  const auto refuse = [&](const std::string& message) {
    throw UsageError(fmt::format("{}: the figure '{}' {}", spec.place, spec.title, message));
  };
  const bool heatmap = spec.kind == FigureSpec::Kind::kHeatmap;
  if (!spec.grid.empty()) {
    if (spec.grid != "spans") {
      refuse(fmt::format("asks for the grid '{}'{}; there is: spans", spec.grid, did_you_mean(spec.grid, {"spans"})));
    }
    if (!heatmap && spec.kind != FigureSpec::Kind::kScatter)
      refuse("shows a grid, so its kind must be heatmap or scatter");
    if (!spec.x.empty() || !spec.y.empty() || !spec.series.empty()) refuse("shows a grid, so it has no x, y or series");
    if (spec.front) refuse("shows a grid, which has no Pareto front");
    return;
  }
  if (spec.kind == FigureSpec::Kind::kText) {
    if (spec.y.empty()) refuse("shows a text, so it needs y: what the model says of every token (span)");
    if (!spec.x.empty() || !spec.value.empty())
      refuse("shows a text, which stands where x would; it has no x or value");
    if (spec.front) refuse("shows a text, which has no Pareto front");
    if (spec.x_scale == FigureSpec::Scale::kLog) refuse("shows a text, which has no log scale on x");
    return;
  }
  if (spec.x.empty() || spec.y.empty()) refuse("needs x and y (columns of the store), or a grid");
  if (heatmap && spec.value.empty()) refuse("is a heatmap, so it needs 'value', the column that colours show");
  if (!heatmap && !spec.value.empty()) refuse("has a 'value', which only a heatmap shows");
  if (heatmap && !spec.series.empty()) refuse("is a heatmap, which has no series");
  if (spec.front && spec.kind != FigureSpec::Kind::kScatter && spec.kind != FigureSpec::Kind::kLine) {
    refuse("can show a Pareto front only as scatter or line");
  }
  const bool plain_x = spec.kind == FigureSpec::Kind::kBars || heatmap;
  if (plain_x && spec.x_scale == FigureSpec::Scale::kLog)
    refuse("has places side by side on x, which has no log scale");
}

}  // namespace

const std::vector<std::string>& figure_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"figure", "where"};
    OptionLister lister;
    FigureSpec().visit(lister);
    for (const OptionEntry& entry : lister.entries()) names.push_back(entry.key);
    return names;
  }();
  return keys;
}

FigureSpec read_figure_spec(const Yaml& node) {
  refuse_unknown(node, figure_keys());
  FigureSpec spec;
  spec.place = node.where();
  const Yaml* title = node.find("figure");
  if (title == nullptr) throw UsageError(fmt::format("{}: the figure has no title (figure: TITLE)", node.where()));
  spec.title = scalar_text(*title, "figure");
  if (const Yaml* where = node.find("where")) spec.where = read_conditions(*where);
  Yaml options = node;
  options.take("figure");
  options.take("where");
  OptionReader reader(options);
  spec.visit(reader);
  reader.finish();
  if (spec.name.empty()) spec.name = name_from_title(spec.title);
  if (spec.name.empty()) spec.name = "figure";
  if (spec.name.find('/') != std::string::npos) {
    throw UsageError(
        fmt::format("{}: name is '{}', it must be a file name without folders", node.find("name")->where(), spec.name));
  }
  check(spec);
  return spec;
}

}  // namespace xlm
