// Computes and draws figures.
#include "results/figures/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/figure_series.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {

namespace {

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

/// Adds a panel to a figure of all `selected` runs for each value of its facet's column. Panels have the whole figure's
/// places, ranges, order and looks. The figure's caption then says what the points of the panels are. Notes name the
/// values without numbers.
void add_panels(RunTable& runs, const std::vector<std::size_t>& selected, Figure& whole) {
  const std::string& column = whole.description.looks.facet.by;
  const std::vector<Value>& values = runs.column(column);
  std::map<Value, std::vector<std::size_t>, ValueOrder> parts;
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

/// The conditions for a figure's runs.
std::vector<Filter> conditions_on_figure(const FigureDescription& description, std::vector<Filter> filters) {
  filters.insert(filters.end(), description.where.begin(), description.where.end());
  return filters;
}

std::vector<std::string> columns_of_figure(const FigureDescription& description) {
  std::vector<std::string> columns{description.x, description.y, description.value};
  columns.insert(columns.end(), description.series.begin(), description.series.end());
  columns.push_back(description.looks.facet.by);
  return columns;
}

/// The rows of a figure, with what was left out and what was chosen.
struct RowsOfFigure {
  SettingChoice choice;
  std::vector<std::string> left_out;  // bad runs
};

RowsOfFigure find_rows(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters) {
  ShownRows shown = shown_rows(runs, conditions_on_figure(description, filters), columns_of_figure(description));
  return {.choice = choose_rows(runs, shown.rows, description.choose, description.over),
          .left_out = std::move(shown.left_out)};
}

/// Says in the caption that settings were chosen, and in the notes which.
void describe_choice(Figure& figure, SettingChoice choice) {
  const Selection& selection = figure.description.choose;
  if (!selection.is_asked()) return;
  figure.caption += fmt::format("{}best {} by {}", figure.caption.empty() ? "" : "; ",
                                listed_names(selection.over, selection.over.size()), column_label(selection.by));
  NamedChoices choices;
  choices.emplace_back("", std::move(choice));
  for (std::string& note : choice_notes(selection, choices)) figure.notes.push_back(std::move(note));
}

/// The best of several runs by the test split is no result.
void warn_of_test_selection(RunTable& runs, const std::vector<std::size_t>& rows, Figure& figure) {
  const FigureDescription& description = figure.description;
  if (description.aggregate == Aggregate::kMean) return;
  const std::string& column = description.value.empty() ? description.y : description.value;
  const std::string note = test_selection_note(column, description.aggregate, direction_of(runs, rows, column));
  if (note.empty() || figure.caption.empty()) return;  // without a caption each point is of one run
  figure.caption += ", chosen on test";
  figure.notes.push_back(note);
}

}  // namespace

std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters) {
  return find_rows(runs, description, filters).choice.rows;
}

std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters) {
  RowsOfFigure found = find_rows(runs, description, filters);
  const std::vector<std::size_t> selected = found.choice.rows;
  if (selected.empty() && !found.choice.undecided.empty()) return no_figure(description, "no setting can be chosen");
  if (selected.empty() && !found.left_out.empty()) return no_figure(description, "all runs are marked as bad");
  if (selected.empty()) {
    return no_figure(description,
                     unmet_condition(runs, conditions_on_figure(description, filters), columns_of_figure(description)));
  }
  BuiltFigure built = kind_of(description).build(runs, description, selected);
  if (Figure* figure = std::get_if<Figure>(&built)) {
    figure->warnings = lost_logarithms(*figure);
    put_in_order(*figure);
    if (!description.looks.facet.by.empty()) add_panels(runs, selected, *figure);
    warn_of_test_selection(runs, selected, *figure);
    describe_choice(*figure, std::move(found.choice));
    if (!found.left_out.empty()) figure->notes.push_back(left_out_note(found.left_out));
    if (std::string note = notes_on_runs(runs, selected); !note.empty()) figure->notes.push_back(std::move(note));
  }
  return built;
}

Json plotly_figure(const Figure& figure) { return kind_of(figure.description).plotly(figure); }

}  // namespace xlm
