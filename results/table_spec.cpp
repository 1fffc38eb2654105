// What a table file says.
#include "results/table_spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// Reads cell options that stand in `map` beside other keys, over those that `options` has already.
void read_cells(const Yaml& map, const std::vector<std::string>& beside, CellOptions& options) {
  Yaml rest = map;
  for (const std::string& key : beside) rest.take(key);
  OptionReader reader(rest);
  options.visit(reader);
  reader.finish();
}

std::vector<Condition> conditions_of(const Yaml& map) {
  const Yaml* where = map.find("where");
  return where == nullptr ? std::vector<Condition>{} : read_conditions(*where);
}

std::string label_of(const Yaml& map, std::string_view what) {
  if (!map.is_map()) throw UsageError(fmt::format("{}: each of '{}' must be a map with a label", map.where(), what));
  const Yaml* label = map.find("label");
  if (label == nullptr) throw UsageError(fmt::format("{}: one of '{}' has no label", map.where(), what));
  return scalar_text(*label, "label");
}

void read_rows(const Yaml& node, TableSpec& spec) {
  if (node.is_scalar()) {
    spec.row_key = node.scalar;
    return;
  }
  if (!node.is_sequence()) {
    throw UsageError(fmt::format("{}: 'rows' must be a column of the store, or a list of rows", node.where()));
  }
  for (const Yaml& item : node.items) {
    const std::string label = label_of(item, "rows");
    refuse_unknown(item, {"label", "where"});
    spec.rows.push_back({label, conditions_of(item)});
  }
}

TableColumn read_column(const Yaml& item, std::string_view what, const CellOptions& defaults) {
  TableColumn column{{label_of(item, what), conditions_of(item)}, defaults};
  read_cells(item, {"label", "where"}, column.cells);
  return column;
}

void read_columns(const Yaml* node, const CellOptions& defaults, TableSpec& spec) {
  if (node == nullptr) {
    spec.columns.push_back({{defaults.value, {}}, defaults});
  } else if (node->is_scalar()) {
    spec.column_key = node->scalar;
    spec.columns.push_back({{"", {}}, defaults});
  } else if (node->is_sequence()) {
    for (const Yaml& item : node->items) spec.columns.push_back(read_column(item, "columns", defaults));
  } else {
    throw UsageError(fmt::format("{}: 'columns' must be a column of the store, or a list of columns", node->where()));
  }
  for (const TableColumn& column : spec.columns) {
    if (!column.cells.value.empty()) continue;
    throw UsageError(
        fmt::format("{}: nothing says what the cells of '{}' show\ngive 'value' in 'cells' or in the column",
                    spec.place, column.label));
  }
}

void read_also(const Yaml* node, const CellOptions& defaults, TableSpec& spec) {
  if (node == nullptr) return;
  if (!node->is_sequence()) throw UsageError(fmt::format("{}: 'also' must be a list", node->where()));
  for (const Yaml& item : node->items) {
    CellOptions fresh;  // digits and format belong to the main value
    fresh.over = defaults.over;
    fresh.aggregate = defaults.aggregate;
    spec.also.push_back(read_column(item, "also", fresh));
    if (spec.also.back().cells.value.empty()) throw UsageError(fmt::format("{}: 'also' needs a value", item.where()));
  }
}

void read_stars(const Yaml* node, const CellOptions& defaults, TableSpec& spec) {
  if (node == nullptr) return;
  if (!node->is_map()) throw UsageError(fmt::format("{}: 'stars' must be a map", node->where()));
  refuse_unknown(*node, {"test", "against", "p", "value"});
  if (const Yaml* test = node->find("test"); test != nullptr && scalar_text(*test, "test") != "paired-t") {
    throw UsageError(fmt::format("{}: the only test is paired-t, not '{}'", test->where(), test->scalar));
  }
  const Yaml* against = node->find("against");
  if (against == nullptr) throw UsageError(fmt::format("{}: 'stars' needs 'against', a list of rows", node->where()));
  const std::vector<Yaml> rows = against->is_sequence() ? against->items : std::vector<Yaml>{*against};
  for (const Yaml& row : rows) spec.stars.against.push_back(scalar_text(row, "against"));
  if (const Yaml* p = node->find("p")) {
    if (!p->is_scalar() || !parse_real(p->scalar, spec.stars.p) || spec.stars.p <= 0 || spec.stars.p >= 1) {
      throw UsageError(fmt::format("{}: p must be a number between 0 and 1", p->where()));
    }
  }
  const Yaml* value = node->find("value");
  spec.stars.value = value != nullptr ? scalar_text(*value, "value") : defaults.value;
  if (spec.stars.value.empty()) {
    throw UsageError(fmt::format("{}: 'stars' needs 'value', as 'cells' names none", node->where()));
  }
}

/// A cell is a number or a text; a list gives the column's own value and then those of `also`.
void read_printed_cell(const std::string& row, const std::string& column, const Yaml& node, TableSpec& spec) {
  const std::vector<Yaml> items = node.is_sequence() ? node.items : std::vector<Yaml>{node};
  if (items.size() > 1 + spec.also.size()) {
    throw UsageError(fmt::format("{}: more printed values than the column shows", node.where()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_null()) continue;
    const std::string label = i == 0 ? column : column + " " + spec.also[i - 1].label;
    spec.printed[row][label] = scalar_text(items[i], "a printed value");
  }
}

void check_printed_label(const Yaml& node, const std::string& label, const std::vector<std::string>& known,
                         std::string_view what) {
  if (known.empty() || std::find(known.begin(), known.end(), label) != known.end()) return;
  throw UsageError(fmt::format("{}: 'printed' speaks of a {} '{}' that the table does not have{}", node.where(), what,
                               label, did_you_mean(label, known)));
}

void read_printed(const Yaml* node, TableSpec& spec) {
  if (node == nullptr) return;
  if (!node->is_map()) throw UsageError(fmt::format("{}: 'printed' must be a map of rows", node->where()));
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  for (const TableEntry& row : spec.rows) rows.push_back(row.label);
  if (spec.column_key.empty()) {
    for (const TableColumn& column : spec.columns) {
      columns.push_back(column.label);
      for (const TableColumn& also : spec.also) columns.push_back(column.label + " " + also.label);
    }
  }
  for (const auto& [row, cells] : node->entries) {
    check_printed_label(cells, row, rows, "row");
    spec.printed_rows.push_back(row);
    if (!cells.is_map()) {
      throw UsageError(fmt::format("{}: the printed values of '{}' must be a map of columns", cells.where(), row));
    }
    for (const auto& [column, value] : cells.entries) {
      check_printed_label(value, column, columns, "column");
      read_printed_cell(row, column, value, spec);
    }
  }
}

void check_stars(const TableSpec& spec) {
  if (spec.rows.empty()) return;
  std::vector<std::string> labels;
  for (const TableEntry& row : spec.rows) labels.push_back(row.label);
  for (const std::string& label : spec.stars.against) {
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
    throw UsageError(fmt::format("{}: 'stars' compare with a row '{}' that the table does not have{}", spec.place,
                                 label, did_you_mean(label, labels)));
  }
}

}  // namespace

const std::vector<std::string>& table_keys() {
  static const std::vector<std::string> keys{"table",   "name",  "corner", "where", "rows",
                                             "columns", "cells", "also",   "stars", "printed"};
  return keys;
}

TableSpec read_table_spec(const Yaml& node) {
  refuse_unknown(node, table_keys());
  TableSpec spec;
  spec.place = node.where();
  const Yaml* title = node.find("table");
  if (title == nullptr) throw UsageError(fmt::format("{}: the table has no title (table: TITLE)", node.where()));
  spec.title = scalar_text(*title, "table");
  const Yaml* name = node.find("name");
  spec.name = name != nullptr ? scalar_text(*name, "name") : name_from_title(spec.title);
  if (const Yaml* corner = node.find("corner")) spec.corner = scalar_text(*corner, "corner");
  spec.where = conditions_of(node);
  CellOptions cells;
  if (const Yaml* given = node.find("cells")) read_cells(*given, {}, cells);
  const Yaml* rows = node.find("rows");
  if (rows == nullptr) throw UsageError(fmt::format("{}: the table '{}' has no rows", node.where(), spec.title));
  read_rows(*rows, spec);
  read_columns(node.find("columns"), cells, spec);
  read_also(node.find("also"), cells, spec);
  read_stars(node.find("stars"), cells, spec);
  read_printed(node.find("printed"), spec);
  check_stars(spec);
  if (spec.corner.empty()) {
    spec.corner = spec.row_key + (spec.row_key.empty() || spec.column_key.empty() ? "" : " \\ ") + spec.column_key;
  }
  return spec;
}

}  // namespace xlm
