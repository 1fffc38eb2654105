// Computes and draws figures.
#include "results/figures/figures.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/figure_series.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"
#include "results/judgement/pairing.h"
#include "results/quantities/quantities.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {

namespace {

std::vector<std::string> columns_of_figure(const FigureDescription& description) {
  std::vector<std::string> columns{description.x, description.y, description.value};
  columns.insert(columns.end(), description.series.begin(), description.series.end());
  return columns;
}

/// The rows of a figure, with what was left out and what was chosen.
struct RowsOfFigure {
  SettingChoice choice;
  HiddenRuns left_out;
};

RowsOfFigure find_rows(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters) {
  ShownRows shown = shown_rows(runs, with_conditions(filters, description.where), columns_of_figure(description));
  return {.choice = choose_rows(runs, shown.rows, description.choose, description.over),
          .left_out = std::move(shown.left_out)};
}

/// The column of the store whose numbers the figure shows; "": it is of something else.
std::string column_of_figure(const FigureDescription& description) {
  const bool is_of_runs = description.grid.empty() && kind_of(description).name != "text";
  return !is_of_runs ? "" : description.value.empty() ? description.y : description.value;
}

/// Says in the caption which runs have no number. Others that are done may be of another kind.
void describe_missing(RunTable& runs, const std::vector<std::size_t>& rows, Figure& figure) {
  const FigureDescription& description = figure.description;
  const std::string column = column_of_figure(description);
  if (column.empty() || is_along_training(description.x)) return;
  SeedValues values = seed_values(runs, rows, column, description.over);
  values.without_number.erase(std::string(name_of(RunStatus::kDone)));
  if (values.without_number.empty()) return;
  add_to_caption(figure, "left out: " + values.without_number_text());
}

/// Says in the caption which texts the numbers are of, if it is more than one, and no column or front names them.
void describe_texts(RunTable& runs, const std::vector<std::size_t>& rows, Figure& figure) {
  const FigureDescription& description = figure.description;
  const std::string column = column_of_figure(description);
  if (column.empty() || description.front || std::ranges::any_of(columns_of_figure(description), says_which_text))
    return;
  const std::vector<std::string> corpora = corpora_of(runs, rows, {column});
  const std::set<std::string> texts(corpora.begin(), corpora.end());
  if (texts.size() > 1)
    add_to_caption(figure, "numbers on different text: " + some_listed({texts.begin(), texts.end()}));
}

/// Says in the caption that settings were chosen, and in the notes which.
void describe_choice(Figure& figure, SettingChoice choice) {
  const Selection& selection = figure.description.choose;
  if (!selection.is_asked()) return;
  add_to_caption(figure, fmt::format("best {} by {}", listed_names(selection.over, selection.over.size()),
                                     column_label(selection.by)));
  NamedChoices choices;
  choices.emplace_back("", std::move(choice));
  for (std::string& note : choice_notes(selection, choices)) figure.notes.push_back(std::move(note));
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
  if (selected.empty() && !found.left_out.empty()) return no_figure(description, why_all_are_hidden(found.left_out));
  if (selected.empty()) {
    return no_figure(description, unmet_condition(runs, with_conditions(filters, description.where),
                                                  columns_of_figure(description)));
  }
  BuiltFigure built = kind_of(description).build(runs, description, selected);
  if (Figure* figure = std::get_if<Figure>(&built)) {
    figure->warnings = lost_logarithms(*figure);
    for (const std::string& warning : figure->warnings) figure->notes.push_back("T" + warning.substr(1) + ".");
    put_in_order(*figure);
    describe_choice(*figure, std::move(found.choice));
    describe_missing(runs, selected, *figure);
    describe_texts(runs, selected, *figure);
    if (!found.left_out.empty()) figure->notes.push_back(left_out_note(found.left_out));
    if (std::string note = notes_on_runs(runs, selected, columns_of_figure(description)); !note.empty())
      figure->notes.push_back(std::move(note));
  }
  return built;
}

Json plotly_figure(const Figure& figure) { return kind_of(figure.description).plotly(figure); }

}  // namespace xlm
