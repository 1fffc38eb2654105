// Finds runs of a store that become one number of a figure.
#include "experiments/checks/mixed_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "results/figures/figures.h"

namespace xlm {
namespace {

constexpr const char* kCorpus = "data.name";
constexpr const char* kCorpusOfEvaluation = "at.data.name";

std::set<std::string> values_of_rows(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column) {
  const std::vector<Value>& values = runs.column_or_nothing(column);
  std::set<std::string> texts;
  for (const std::size_t row : rows) texts.insert(to_text(values[row]));
  return texts;
}

/// The columns that tell a figure's runs apart.
std::vector<std::string> naming_columns_of(RunTable& runs, const FigureDescription& description) {
  std::vector<std::string> columns = description.series;
  if (description.x.empty() || is_along_training(description.x)) return columns;
  if (description.value.empty() && runs.is_measured(description.x)) {
    columns.emplace_back("seed_group");  // as in figures: a point is all seeds of one setting
  } else {
    columns.push_back(description.x);
  }
  if (!description.value.empty()) columns.push_back(description.y);
  return columns;
}

}  // namespace

bool names_corpus(std::string_view column) { return column == kCorpus || column == kCorpusOfEvaluation; }

FigureRows::FigureRows(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters)
    : runs_(runs), description_(description), rows_(rows_of_figure(runs, description, filters)) {
  if (description.grid.empty() && !is_along_training(description.x) && !description.x.empty()) {
    for (const std::string* column : {&description.x, &description.y, &description.value}) {
      if (column->empty()) continue;
      const std::vector<Value>& values = runs.column(*column);
      std::erase_if(rows_, [&](std::size_t row) { return is_missing(values[row]); });
    }
  }
  std::map<std::string, Point> points;
  const std::vector<std::string> columns = naming_columns_of(runs, description);
  for (const std::size_t row : rows_) {
    std::vector<std::string> parts;
    for (const std::string& column : columns) parts.push_back(to_text(runs.column(column)[row]));
    Point& point = points[join(parts, "\n")];
    point.name = join(parts, ", ");
    point.rows.push_back(row);
  }
  for (auto& [key, point] : points) points_.push_back(std::move(point));
}

std::vector<std::string> FigureRows::joined_corpora() const {
  std::set<std::string> corpora = values_of_rows(runs_, rows_, kCorpusOfEvaluation);
  if (corpora.size() < 2) corpora = values_of_rows(runs_, rows_, kCorpus);
  const bool told_apart = names_corpus(description_.x) || std::ranges::any_of(description_.series, names_corpus) ||
                          (!description_.value.empty() && names_corpus(description_.y));
  if (corpora.size() < 2 || told_apart) return {};
  return {corpora.begin(), corpora.end()};
}

}  // namespace xlm
