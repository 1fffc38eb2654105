// What a table file says.
#include "results/tables/table_description.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

bool is_word(const Yaml& node, std::string_view word) { return node.is_scalar() && node.scalar == word; }

/// Reads cell options that stand in `map` next to `others`, over those that `options` has already.
void read_cells(const Yaml& map, const std::vector<std::string>& others, CellOptions& options) {
  Yaml rest = map;
  for (const std::string& key : others) rest.take(key);
  if (const Yaml choose = rest.take("choose"); is_word(choose, "none")) {
    options.choose = {};
  } else if (!choose.is_null()) {
    options.choose = read_selection(choose);
  }
  OptionReader reader(rest, {"choose"});
  options.visit(reader);
  reader.finish();
}

/// Digits, format and better as they are usual for what the cells show, where neither the column nor `shared` says so.
void fill_in(const Yaml& own, const Yaml* shared, CellOptions& options) {
  const auto is_given = [&](const char* key) {
    return own.find(key) != nullptr || (shared != nullptr && shared->find(key) != nullptr);
  };
  const Quantity* quantity = quantity_of_column(options.value);
  options.has_direction = quantity != nullptr || is_given("better");
  options.has_digits = is_given("digits") || is_given("format");
  if (quantity == nullptr) return;
  if (!options.has_digits) {
    options.digits = quantity->digits;
    options.format = quantity->format;
  }
  if (!is_given("better")) options.better = quantity->better;
}

std::vector<Filter> conditions_of(const Yaml& map) {
  const Yaml* where = map.find("where");
  return where == nullptr ? std::vector<Filter>{} : read_filters(*where);
}

std::string label_of(const Yaml& map, std::string_view what) {
  if (!map.is_map()) fail_at(map, fmt::format("each of '{}' must be a map with a label", what));
  const Yaml* label = map.find("label");
  if (label == nullptr) fail_at(map, fmt::format("one of '{}' has no label", what));
  return scalar_text(*label, "label");
}

bool read_flag(const Yaml& node, const std::string& key) {
  const std::string text = scalar_text(node, key);
  if (text == "true" || text == "false") return text == "true";
  fail_at(node, fmt::format("{} is '{}', it must be true or false", key, text));
}

/// How printed values are compared: keys that stand next to `printed`.
void read_verdict_rules(const Yaml& node, TableDescription& description) {
  Yaml own;
  own.kind = Yaml::Kind::kMap;
  own.source = node.source;
  own.line = node.line;
  for (const char* key : {"printed_runs", "spread"}) {
    if (const Yaml* value = node.find(key)) own.entries.emplace_back(key, *value);
  }
  VerdictRules& rules = description.verdicts;
  OptionReader reader(own);
  reader.field({.name = "printed_runs", .help = "runs behind each printed value", .min = 1, .max = 1e6},
               rules.printed_runs);
  reader.field({.name = "spread", .help = "from which seeds the spread of a cell is taken"}, rules.spread,
               kSpreadSourceNames);
  reader.finish();
  if (const Yaml* keys = node.find("may_differ")) {
    for (std::string& key : read_texts(*keys, "may_differ")) rules.may_differ.insert(std::move(key));
  }
}

/// A tolerance is relative, and a margin is not: a mix-up would be off by the size of the value.
void check_tolerances(const TableDescription& description) {
  for (const std::vector<TableColumn>* columns : {&description.columns, &description.also}) {
    for (const TableColumn& column : *columns) {
      if (column.cells.tolerance < 0 || !evaluation_column(column.cells.value)) continue;
      throw UsageError(
          fmt::format("{}: 'tolerance' is relative, and for costs that follow from the configuration; {} is "
                      "measured\ngive 'margin', in units of the value",
                      description.place, column.cells.value));
    }
  }
}

/// A standard deviation is one of several runs.
void check_printed_deviations(const TableDescription& description) {
  if (description.verdicts.printed_runs > 1) return;
  for (const auto& [row, cells] : description.printed) {
    for (const auto& [column, text] : cells) {
      const std::optional<PrintedNumber> number = printed_number(text, NumberFormat::kNumber);
      if (!number || !number->deviation) continue;
      throw UsageError(
          fmt::format("{}: the printed value '{}' of {}/{} has a standard deviation, but is of one run\n"
                      "say how many runs the paper makes: printed_runs: 3",
                      description.place, text, row, column));
    }
  }
}

void read_rows(const Yaml& node, TableDescription& description) {
  if (node.is_scalar()) {
    description.row_key = node.scalar;
    return;
  }
  if (!node.is_sequence()) {
    fail_at(node, "'rows' must be a column of the store, or a list of rows");
  }
  for (const Yaml& item : node.items) {
    TableEntry row{label_of(item, "rows"), conditions_of(item), false};
    refuse_unknown(item, {"label", "where", "printed_only"});
    if (const Yaml* only = item.find("printed_only")) row.printed_only = read_flag(*only, "printed_only");
    if (row.printed_only && !row.where.empty()) {
      fail_at(item,
              fmt::format("the row '{}' is printed_only, so it shows no runs that 'where' could choose", row.label));
    }
    description.rows.push_back(std::move(row));
  }
}

/// Whether a label has a name of what a column of the store holds among its words.
bool names_value(const std::string& label, const std::string& value) {
  std::vector<std::string> names{value, column_label(value)};
  if (const Quantity* known = quantity_of_column(value)) {
    names.insert(names.end(), {known->name, known->label, known->head});
  }
  return std::ranges::any_of(
      names, [&](const std::string& name) { return lower_case(label).find(lower_case(name)) != std::string::npos; });
}

/// A column that says what it shows may leave its label to that.
TableColumn read_column(const Yaml& item, std::string_view what, const Yaml* shared, const CellOptions& defaults) {
  const Yaml* value = item.find("value");
  const bool is_named = item.find("label") != nullptr || value == nullptr || !value->is_scalar();
  TableColumn column{{is_named ? label_of(item, what) : column_label(value->scalar), conditions_of(item), false},
                     defaults};
  read_cells(item, {"label", "where"}, column.cells);
  fill_in(item, shared, column.cells);
  column.says_what =
      value != nullptr || item.find("against") != nullptr || names_value(column.label, column.cells.value);
  return column;
}

void read_columns(const Yaml* node, const Yaml* shared, const CellOptions& defaults, TableDescription& description) {
  CellOptions usual = defaults;
  fill_in(Yaml{}, shared, usual);
  if (node == nullptr) {
    description.columns.push_back({{usual.value, {}}, usual});
  } else if (node->is_scalar()) {
    description.column_key = node->scalar;
    description.columns.push_back({{"", {}}, usual, false});
  } else if (node->is_sequence()) {
    for (const Yaml& item : node->items) description.columns.push_back(read_column(item, "columns", shared, defaults));
  } else {
    fail_at(*node, "'columns' must be a column of the store, or a list of columns");
  }
  for (const TableColumn& column : description.columns) {
    if (column.cells.against.empty() && column.cells.as != RowRelation::kDifference) {
      throw UsageError(fmt::format("{}: 'as' of '{}' needs 'against', the row with which the others are compared",
                                   description.place, column.label));
    }
    if (!column.cells.value.empty()) continue;
    throw UsageError(
        fmt::format("{}: nothing says what the cells of '{}' show\ngive 'value' in 'cells' or in the column",
                    description.place, column.label));
  }
}

void read_also(const Yaml* node, const CellOptions& defaults, TableDescription& description) {
  if (node == nullptr) return;
  if (!node->is_sequence()) fail_at(*node, "'also' must be a list");
  for (const Yaml& item : node->items) {
    CellOptions fresh;  // digits and format belong to the main value
    fresh.over = defaults.over;
    fresh.aggregate = defaults.aggregate;
    fresh.choose = defaults.choose;
    description.also.push_back(read_column(item, "also", nullptr, fresh));
    if (description.also.back().cells.value.empty()) fail_at(item, "'also' needs a value");
  }
}

void read_stars(const Yaml* node, const CellOptions& defaults, TableDescription& description) {
  if (node == nullptr) return;
  if (!node->is_map()) fail_at(*node, "'stars' must be a map");
  refuse_unknown(*node, {"test", "against", "p", "value", "correct"});
  if (const Yaml* test = node->find("test"); test != nullptr && scalar_text(*test, "test") != "paired-t") {
    fail_at(*test, fmt::format("the only test is paired-t, not '{}'", test->scalar));
  }
  const Yaml* against = node->find("against");
  if (against == nullptr) fail_at(*node, "'stars' needs 'against', a list of rows");
  description.stars.against = read_texts(*against, "against");
  if (const Yaml* p = node->find("p")) {
    if (!p->is_scalar() || !parse_real(p->scalar, description.stars.p) || description.stars.p <= 0 ||
        description.stars.p >= 1) {
      fail_at(*p, "p must be a number between 0 and 1");
    }
  }
  if (const Yaml* correct = node->find("correct")) {
    const std::string name = scalar_text(*correct, "correct");
    if (name != kCorrectionNames[0] && name != kCorrectionNames[1]) {
      fail_at(*correct, fmt::format("'correct' is holm or none, not '{}'", name));
    }
    description.stars.correct = name == kCorrectionNames[0] ? Correction::kHolm : Correction::kNone;
  }
  const Yaml* value = node->find("value");
  description.stars.value = value != nullptr ? scalar_text(*value, "value") : defaults.value;
  if (description.stars.value.empty()) {
    fail_at(*node, "'stars' needs 'value', as 'cells' names none");
  }
}

/// A cell is a number or a text; a list gives the column's own value and then those of `also`.
void read_printed_cell(const std::string& row, const std::string& column, const Yaml& node,
                       TableDescription& description) {
  const std::vector<Yaml> items = node.is_sequence() ? node.items : std::vector<Yaml>{node};
  if (items.size() > 1 + description.also.size()) {
    fail_at(node, "more printed values than the column shows");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_null()) continue;
    const std::string label = i == 0 ? column : column + " " + description.also[i - 1].label;
    description.printed[row][label] = scalar_text(items[i], "a printed value");
    if (!items[i].quoted) description.printed_plainly.emplace(row, label);
  }
}

std::vector<std::string> row_labels(const TableDescription& description) {
  std::vector<std::string> labels;
  for (const TableEntry& row : description.rows) labels.push_back(row.label);
  return labels;
}

/// With those of `also` behind each.
std::vector<std::string> column_labels(const TableDescription& description) {
  std::vector<std::string> labels;
  for (const TableColumn& column : description.columns) {
    labels.push_back(column.label);
    for (const TableColumn& also : description.also) labels.push_back(column.label + " " + also.label);
  }
  return labels;
}

void check_printed_label(const Yaml& node, const std::string& label, const std::vector<std::string>& known,
                         std::string_view what) {
  if (known.empty() || std::ranges::find(known, label) != known.end()) return;
  fail_at(node, fmt::format("'printed' speaks of a {} '{}' that the table does not have{}", what, label,
                            did_you_mean(label, known)));
}

void read_printed(const Yaml* node, TableDescription& description) {
  if (node == nullptr) return;
  if (!node->is_map()) fail_at(*node, "'printed' must be a map of rows");
  const std::vector<std::string> rows = row_labels(description);
  std::vector<std::string> columns;
  if (description.column_key.empty()) columns = column_labels(description);
  for (const auto& [row, cells] : node->entries) {
    check_printed_label(cells, row, rows, "row");
    description.printed_rows.push_back(row);
    if (!cells.is_map()) {
      fail_at(cells, fmt::format("the printed values of '{}' must be a map of columns", row));
    }
    for (const auto& [column, value] : cells.entries) {
      check_printed_label(value, column, columns, "column");
      read_printed_cell(row, column, value, description);
    }
  }
}

/// Stars, printed values and readers know rows and columns by their labels alone.
void refuse_equal_labels(const std::vector<std::string>& labels, std::string_view what, const std::string& place) {
  std::set<std::string> seen;
  for (const std::string& label : labels) {
    if (seen.insert(label).second) continue;
    throw UsageError(
        fmt::format("{}: two {}s of the table are called '{}'\ngive one of them another label", place, what, label));
  }
}

void check_stars(const TableDescription& description) {
  if (description.rows.empty()) return;
  const std::vector<std::string> labels = row_labels(description);
  for (const std::string& label : description.stars.against) {
    if (std::ranges::find(labels, label) != labels.end()) continue;
    throw UsageError(fmt::format("{}: 'stars' compare with a row '{}' that the table does not have{}",
                                 description.place, label, did_you_mean(label, labels)));
  }
}

}  // namespace

std::string cell_spread_text(double spread, const CellOptions& options) {
  std::int64_t digits = options.digits;
  const double size = options.format == NumberFormat::kPercent ? 100 * spread : spread;
  const bool is_fixed =
      options.digits >= 0 && (options.format == NumberFormat::kNumber || options.format == NumberFormat::kPercent);
  if (is_fixed && size > 0) {
    digits = std::max<std::int64_t>(digits, static_cast<std::int64_t>(std::ceil(-std::log10(size))));
  }
  return format_number(spread, options.format, digits);
}

const std::vector<std::string>& table_keys() {
  static const std::vector<std::string> keys{"table",        "name",   "corner",     "where", "rows",
                                             "columns",      "cells",  "also",       "stars", "printed",
                                             "printed_runs", "spread", "may_differ", "notes"};
  return keys;
}

TableDescription read_table_description(const Yaml& node) {
  refuse_unknown(node, table_keys());
  TableDescription description;
  description.place = node.where();
  const Yaml* title = node.find("table");
  if (title == nullptr) fail_at(node, "the table has no title (table: TITLE)");
  description.title = scalar_text(*title, "table");
  const Yaml* name = node.find("name");
  description.name = name != nullptr ? scalar_text(*name, "name") : name_from_title(description.title);
  if (const Yaml* corner = node.find("corner")) description.corner = scalar_text(*corner, "corner");
  description.where = conditions_of(node);
  CellOptions cells;
  const Yaml* shared = node.find("cells");
  if (shared != nullptr) read_cells(*shared, {}, cells);
  const Yaml* rows = node.find("rows");
  if (rows == nullptr) fail_at(node, fmt::format("the table '{}' has no rows", description.title));
  read_rows(*rows, description);
  read_columns(node.find("columns"), shared, cells, description);
  read_also(node.find("also"), cells, description);
  refuse_equal_labels(row_labels(description), "row", description.place);
  refuse_equal_labels(column_labels(description), "column", description.place);
  read_stars(node.find("stars"), cells, description);
  read_printed(node.find("printed"), description);
  read_verdict_rules(node, description);
  check_tolerances(description);
  check_printed_deviations(description);
  if (const Yaml* notes = node.find("notes")) description.notes = read_texts(*notes, "a note");
  check_stars(description);
  if (description.corner.empty()) {
    description.corner = description.row_key +
                         (description.row_key.empty() || description.column_key.empty() ? "" : " \\ ") +
                         description.column_key;
  }
  return description;
}

}  // namespace xlm
