// Makes the panels of a figure.
#include "results/figures/figure_panels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/figure_kind.h"
#include "results/figures/figure_series.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"

namespace xlm {
namespace {

struct FacetOrder {
  bool operator()(const Value& a, const Value& b) const { return value_less(a, b); }
};

/// Moves the points of a panel to the named places that they have in the whole figure.
void share_places(const Figure& whole, Figure& panel) {
  panel.x_ticks = whole.x_ticks;
  if (whole.x_names.empty()) return;
  for (FigureSeries& series : panel.series) {
    for (FigurePoint& point : series.points) {
      const std::string name =
          panel.x_names.empty() ? value_text(point.x) : panel.x_names[static_cast<std::size_t>(std::lround(point.x))];
      const auto place = std::find(whole.x_names.begin(), whole.x_names.end(), name);
      point.x = static_cast<double>(place - whole.x_names.begin());
    }
  }
  panel.x_names = whole.x_names;
}

/// Gives all panels the range of all their data.
void share_ranges(std::vector<Figure>& panels) {
  Range x;
  Range y;
  for (const Figure& panel : panels) {
    for (const auto& [range, axis] : {std::pair(&x, x_axis(panel)), std::pair(&y, y_axis(panel))}) {
      range->include(axis.range.low);
      range->include(axis.range.high);
    }
  }
  for (Figure& panel : panels) {
    if (panel.x_names.empty()) panel.description.x_range = {x.low, x.high};
    panel.description.y_range = {y.low, y.high};
  }
}

/// The order and looks of the whole figure's series.
void share_looks(const Figure& whole, Figure& panel) {
  put_in_order(panel);
  panel.warnings.clear();  // the whole figure has them
  for (FigureSeries& series : panel.series) {
    const auto same = std::find_if(whole.series.begin(), whole.series.end(),
                                   [&](const FigureSeries& other) { return other.value == series.value; });
    if (same != whole.series.end()) series.look = same->look;
  }
}

/// What the points of panels are: one text if it is the same for all.
std::string caption_of(const std::vector<Figure>& panels) {
  std::set<std::string> captions;
  std::vector<std::string> parts;
  for (const Figure& panel : panels) {
    captions.insert(panel.caption);
    if (!panel.caption.empty()) parts.push_back(panel.description.title + ": " + panel.caption);
  }
  return captions.size() == 1 ? *captions.begin() : join(parts, "; ");
}

}  // namespace

void add_panels(RunTable& runs, const std::vector<std::size_t>& selected, Figure& whole) {
  const std::string& column = whole.description.looks.facet.by;
  const std::vector<Value>& values = runs.column(column);
  std::map<Value, std::vector<std::size_t>, FacetOrder> parts;
  for (const std::size_t run : selected) parts[values[run]].push_back(run);
  const FigureDescription description = whole.description;
  std::set<std::string> notes;
  for (const auto& [value, members] : parts) {
    FigureDescription part = description;
    part.looks.facet = {};
    part.title = value_label(description.looks, column, value);
    BuiltFigure built = kind_of(part).build(runs, part, members);
    if (Figure* panel = std::get_if<Figure>(&built)) {
      share_places(whole, *panel);
      share_looks(whole, *panel);
      notes.insert(panel->notes.begin(), panel->notes.end());
      panel->notes.clear();
      whole.panels.push_back(std::move(*panel));
    } else {
      notes.insert(fmt::format("the figure '{}' has no panel for {}: none of its {} runs has numbers",
                               description.title, part.title, members.size()));
    }
  }
  share_ranges(whole.panels);
  whole.caption = caption_of(whole.panels);
  whole.notes.assign(notes.begin(), notes.end());
}

}  // namespace xlm
