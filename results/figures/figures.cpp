// Computes and draws figures.
#include "results/figures/figures.h"

#include "results/figures/figure_panels.h"
#include "results/figures/gnuplot_parts.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"
#include "results/store/unmet_condition.h"

namespace xlm {

namespace {

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

}  // namespace

std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters) {
  return runs.select(conditions_on_figure(description, filters), columns_of_figure(description));
}

std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters) {
  const std::vector<std::size_t> selected = rows_of_figure(runs, description, filters);
  if (selected.empty()) {
    return no_figure(description,
                     unmet_condition(runs, conditions_on_figure(description, filters), columns_of_figure(description)));
  }
  BuiltFigure built = kind_of(description).build(runs, description, selected);
  if (Figure* figure = std::get_if<Figure>(&built)) {
    figure->warnings = lost_logarithms(*figure);
    put_in_order(*figure);
    if (!description.looks.facet.by.empty()) add_panels(runs, selected, *figure);
  }
  return built;
}

std::string gnuplot_script(const Figure& figure, PictureFormat format) {
  const FigureKind& kind = kind_of(figure.description);
  const FigureLayout layout = layout_of(figure);
  std::string script = gnuplot_terminal(figure, layout, format);
  if (figure.panels.empty()) return script + kind.gnuplot(figure, layout, format);
  script += "set multiplot\n" + frame_script(figure, layout, format);
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    script += "reset\n" + kind.gnuplot(figure.panels[i], layout.panels[i], format);
  return script + "unset multiplot\n";
}

Json plotly_figure(const Figure& figure) { return kind_of(figure.description).plotly(figure); }

}  // namespace xlm
