// A paper's table, computed from the store.
#include "results/tables/table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/judgement/pairing.h"
#include "results/judgement/spread.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/equal_budgets.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"
#include "results/store/statistics.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"
#include "results/tables/run_lengths.h"
#include "results/tables/table_marks.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

bool is_missing_entry(const std::vector<TableEntry>& entries, const std::string& label) {
  return std::ranges::none_of(entries, [&](const TableEntry& entry) { return entry.label == label; });
}

/// Different values of a column among `runs`, in order, each as an entry.
std::vector<TableEntry> entries_of(RunTable& runs, const std::vector<std::size_t>& selected,
                                   const std::string& column) {
  if (selected.empty()) return {};
  std::vector<TableEntry> entries;
  for (const Value& value : runs.values_in(selected, column)) {
    entries.push_back({shown_text(value), {{column, Filter::Relation::kEqual, {value}}}});
  }
  return entries;
}

/// Rows that the paper prints come in the paper's order, then the others.
std::vector<TableEntry> table_rows(RunTable& runs, const std::vector<std::size_t>& selected,
                                   const TableDescription& description) {
  if (description.row_key.empty()) return description.rows;
  std::vector<TableEntry> found = entries_of(runs, selected, description.row_key);
  std::vector<TableEntry> rows;
  for (const std::string& label : description.printed_rows) {
    rows.push_back({label, {{description.row_key, Filter::Relation::kEqual, {asked_value({.text = label})}}}});
  }
  for (TableEntry& entry : found) {
    if (is_missing_entry(rows, entry.label)) rows.push_back(std::move(entry));
  }
  return rows;
}

/// The columns that the file names or that the runs have, each followed by those of `also`.
std::vector<TableColumn> columns_of(RunTable& runs, const std::vector<std::size_t>& selected,
                                    const TableDescription& description) {
  std::vector<TableColumn> own = description.columns;
  if (!description.column_key.empty()) {
    own.clear();
    std::vector<TableEntry> entries = entries_of(runs, selected, description.column_key);
    for (const auto& [row, cells] : description.printed) {
      for (const auto& cell : cells) {
        const std::string& label = cell.first;
        const bool of_also = std::ranges::any_of(
            description.also, [&](const TableColumn& also) { return label.ends_with(" " + also.label); });
        if (of_also || !is_missing_entry(entries, label)) continue;
        entries.push_back(
            {label, {{description.column_key, Filter::Relation::kEqual, {asked_value({.text = label})}}}});
      }
    }
    for (TableEntry& entry : entries) own.push_back({std::move(entry), description.columns.front().cells, false});
  }
  std::vector<TableColumn> all;
  for (const TableColumn& column : own) {
    all.push_back(column);
    for (TableColumn also : description.also) {
      also.behind = column.label;
      also.label = column.label + " " + also.label;
      also.where = with_conditions(std::move(also.where), column.where);
      all.push_back(std::move(also));
    }
  }
  return all;
}

std::vector<std::string> columns_in(const std::vector<Filter>& filters) {
  std::vector<std::string> names;
  for (const Filter& filter : filters) names.push_back(filter.column);
  return names;
}

/// Every column of the store that says which runs belong where.
std::vector<std::string> naming_columns(const TableDescription& description) {
  std::vector<std::string> names{description.row_key, description.column_key};
  const auto add = [&](const std::vector<Filter>& filters) {
    for (std::string& name : columns_in(filters)) names.push_back(std::move(name));
  };
  for (const TableEntry& row : description.rows) add(row.where);
  for (const TableColumn& column : description.columns) add(column.where);
  for (const TableColumn& also : description.also) add(also.where);
  return names;
}

/// Why runs give no number: "2 running, 1 failed", or that they lack the column though all are done.
std::string missing_reason(const SeedValues& values, const std::string& column) {
  return values.are_all_done() ? "done, but without " + column : values.without_number_text();
}

class TableBuilder {
 public:
  /// `filters` are those that all of `selected` fulfil.
  TableBuilder(RunTable& runs, const TableDescription& description, const std::vector<Filter>& filters,
               ShownRows selected)
      : runs_(runs),
        description_(description),
        filters_(filters),
        named_(columns_in(filters)),
        selected_(std::move(selected.rows)) {
    notes_.left_out = left_out_note(selected.left_out);
    if (!selected_.empty()) return;
    unmet_ = selected.left_out.empty() ? unmet_condition(runs, filters, naming_columns(description))
                                       : why_all_are_hidden(selected.left_out);
  }

  std::variant<Table, NothingToShow> build() {
    table_.title = description_.title;
    table_.name = description_.name;
    table_.corner = description_.corner;
    table_.has_printed = !description_.printed.empty();
    table_.columns = columns_of(runs_, selected_, description_);
    const std::vector<TableEntry> entries = table_rows(runs_, selected_, description_);
    for (TableColumn& column : table_.columns) find_direction(column, entries);
    for (const TableEntry& entry : entries) {
      TableRow row{entry.label, {}};
      const std::vector<std::size_t> members = runs_.select(selected_, entry.where);
      samples_.emplace_back();
      for (const TableColumn& column : table_.columns) row.cells.push_back(cell(members, column, entry));
      table_.rows.push_back(std::move(row));
    }
    if (table_.rows.empty() || table_.columns.empty()) return nothing_to_show();
    give_digits_to_small_numbers();
    set_stars(table_, description_.stars, runs_, samples_, notes_);
    table_.verdicts = set_verdicts(table_, description_.verdicts, samples_, columns_of_costs());
    relate_to_rows(table_, runs_);
    mark_best(table_, runs_);
    note_texts();
    notes_.unmet = unmet_;
    std::vector<std::string> values;
    for (const TableColumn& column : table_.columns) values.push_back(column.cells.value);
    notes_.unfrozen = notes_on_runs(runs_, used_, values);
    notes_.own = description_.notes;
    for (const auto& [selection, choices] : choices_) {
      for (std::string& note : choice_notes(selection, choices)) notes_.choices.push_back(std::move(note));
    }
    describe_runs();
    table_.shown = what_cells_show(table_, description_.also);
    table_.best = what_is_best(table_);
    table_.notes = table_notes(table_, notes_);
    return std::move(table_);
  }

 private:
  /// The usual digits would show numbers far below 1 as zeros.
  void give_digits_to_small_numbers() {
    constexpr std::int64_t kUsual = 3;
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      CellOptions& options = table_.columns[c].cells;
      if (options.has_digits || options.format != NumberFormat::kNumber || options.digits == 0) continue;
      double largest = 0;
      for (const TableRow& row : table_.rows) largest = std::max(largest, std::abs(row.cells[c].value.value_or(0)));
      const std::int64_t usual = options.digits < 0 ? kUsual : options.digits;
      if (largest == 0 || largest * std::pow(10.0, static_cast<double>(usual - 1)) >= 1) continue;
      options.digits = zeros_behind_point(largest) + kUsual;
    }
  }

  NothingToShow nothing_to_show() {
    std::string reason = unmet_;
    if (reason.empty()) {
      reason = "no run has " + (table_.rows.empty() ? description_.row_key : description_.column_key);
      const std::string further = further_settings(runs_, filters_, naming_columns(description_));
      if (!further.empty()) reason += "; " + further;
    }
    return {description_.title, reason,
            fmt::format("the table '{}' has nothing to show: {}\n"
                        "see `xlm runs ls`, and `xlm sweep` to make runs",
                        description_.title, reason)};
  }

  /// Of a number that is not among the known quantities, the runs of the column say which way it is better.
  void find_direction(TableColumn& column, const std::vector<TableEntry>& entries) {
    CellOptions& cells = column.cells;
    const bool is_starred = !description_.stars.against.empty() && description_.stars.value == cells.value;
    const char* asker = cells.best ? "`best`" : is_starred ? "`stars`" : nullptr;
    if (cells.has_direction || asker == nullptr) return;
    std::vector<std::size_t> rows;
    for (const TableEntry& entry : entries) {
      const auto of_cell = members_of(runs_, runs_.select(selected_, entry.where), entry, column, named_);
      rows.insert(rows.end(), of_cell.begin(), of_cell.end());
    }
    cells.better = needed_direction(runs_, rows, cells.value, fmt::format("{} of the column '{}'", asker, column.label),
                                    "say it for this column alone: `better: higher`, or lower");
  }

  TableCell cell(const std::vector<std::size_t>& row, const TableColumn& column, const TableEntry& entry) {
    const std::string& label = entry.label;
    TableCell result;
    if (const auto printed = description_.printed.find(label); printed != description_.printed.end()) {
      const auto text = printed->second.find(column.label);
      if (text != printed->second.end()) result.printed = text->second;
    }
    CellSample& sample = samples_.back().emplace_back();
    if (entry.printed_only) {
      result.missing = kPrintedOnly;
      return result;
    }
    const std::vector<std::size_t> asked = members_of(runs_, row, entry, column, named_);
    if (asked.empty()) {
      result.missing = why_nobody(entry, column);
      return result;
    }
    const std::vector<std::size_t> members = chosen_of(asked, label, column, result);
    if (members.empty()) {
      result.missing = "no setting can be chosen";
      return result;
    }
    const SeedValues values = seed_values(runs_, members, column.cells.value, column.cells.over);
    const std::string without = missing_reason(values, column.cells.value);
    if (values.numbers.empty()) {
      result.missing = without + values.import_hint();
      return result;
    }
    result.runs = values.runs;
    result.rows = values.rows;
    sample.by_group = values.by_group;
    result.groups = std::ssize(values.by_group);
    result.ignores_seeds = column.cells.over == "seed" && ignores_seeds(runs_, values) &&
                           origin_of(runs_, column.cells.value) == NumberOrigin::kMeasured;
    if (column.cells.over == "seed" && have_same_numbers(runs_, values, values)) {
      const std::size_t c = samples_.back().size() - 1;
      for (std::size_t r = 0; r + 1 < samples_.size() && result.same_as.empty(); ++r) {
        if (samples_[r][c].by_group == values.by_group) result.same_as = table_.rows[r].label;
      }
    }
    used_.insert(used_.end(), values.rows.begin(), values.rows.end());
    result.differ_in = values.mixes;
    note_variation(result, label, column);
    if (!without.empty()) add_cell(notes_.without[without], label, column);
    if (std::ranges::any_of(members, [&](std::size_t run) { return has_lost(run); })) {
      add_cell(notes_.lost, label, column);
    }
    result.value = aggregated(values.numbers, column.cells.aggregate);
    if (column.cells.spread == Spread::kDeviation) result.spread = sample_deviation(values.numbers);
    if (description_.paper != nullptr) {
      sample.apart =
          description_.paper->keys_apart(runs_, result.rows, of_paper(entry, column), description_.verdicts.may_differ);
    }
    return result;
  }

  /// Those of a cell's rows whose setting it shows.
  std::vector<std::size_t> chosen_of(const std::vector<std::size_t>& rows, const std::string& label,
                                     const TableColumn& column, TableCell& cell) {
    const Selection& selection = column.cells.choose;
    if (!selection.is_asked()) return rows;
    SettingChoice choice = choose_rows(runs_, rows, selection, column.cells.over);
    for (const ChosenSetting& setting : choice.settings) cell.chosen.push_back(chosen_text(selection, setting));
    std::vector<std::size_t> members = choice.rows;
    auto same = std::ranges::find_if(choices_, [&](const auto& known) {
      return known.first.over == selection.over && known.first.by == selection.by;
    });
    if (same == choices_.end()) {
      choices_.emplace_back(selection, NamedChoices());
      same = std::prev(choices_.end());
    }
    same->second.emplace_back(table_.columns.size() == 1 ? label : fmt::format("{}/{}", label, column.label),
                              std::move(choice));
    return members;
  }

  /// Worse than guessing at the end, as its final evaluations say.
  bool has_lost(std::size_t run) {
    return !is_missing(runs_.column_or_nothing("test.worse_than_guessing")[run]) ||
           !is_missing(runs_.column_or_nothing("valid.worse_than_guessing")[run]);
  }

  /// For each column whether its value follows from the configuration, so that no seed changes it.
  std::vector<bool> columns_of_costs() {
    std::vector<bool> costs;
    for (const TableColumn& column : table_.columns) {
      costs.push_back(column.cells.tolerance >= 0 || origin_of(runs_, column.cells.value) != NumberOrigin::kMeasured);
    }
    return costs;
  }

  /// The paper's runs that belong into a cell; none if its conditions are of other sizes than the paper's.
  std::vector<std::size_t> of_paper(const TableEntry& entry, const TableColumn& column) {
    RunTable& paper = description_.paper->table();
    try {
      const std::vector<std::size_t> selected = paper.select(description_.where, naming_columns(description_));
      return members_of(paper, paper.select(selected, entry.where), entry, column, columns_in(description_.where));
    } catch (const UsageError&) {
      return {};  // a condition on what runs report themselves, which the paper's are not known to do
    }
  }

  /// A cell has the evaluations that it asks for itself; what its neighbours ask for is not averaged in.
  static std::vector<std::size_t> members_of(RunTable& runs, const std::vector<std::size_t>& row,
                                             const TableEntry& entry, const TableColumn& column,
                                             std::vector<std::string> named) {
    for (std::string& name : columns_in(with_conditions(entry.where, column.where))) named.push_back(std::move(name));
    return runs.select(runs.asked_for(row, named), column.where);
  }

  /// Whether there are runs that were only not evaluated with the settings that the cell asks for.
  std::string why_nobody(const TableEntry& row, const TableColumn& column) {
    const std::vector<Filter> of_cell = with_conditions(row.where, column.where);
    std::vector<Filter> of_runs;
    std::vector<std::string> settings;
    for (const Filter& filter : of_cell) {
      if (filter.column.starts_with(kSettingPrefix)) {
        settings.push_back(filter.text().substr(kSettingPrefix.size()));
      } else {
        of_runs.push_back(filter);
      }
    }
    if (settings.empty() || runs_.select(selected_, of_runs).empty()) return "no run";
    const std::string further =
        further_settings(runs_, with_conditions(filters_, of_cell), naming_columns(description_));
    return "not evaluated with " + join(settings, ", ") + (further.empty() ? "" : "; " + further);
  }

  /// How long the runs behind the cells train, and on how much of a split they were evaluated.
  void describe_runs() {
    std::set<std::size_t> rows;
    for (const TableRow& row : table_.rows) {
      for (const TableCell& cell : row.cells) rows.insert(cell.rows.begin(), cell.rows.end());
    }
    const RunBudgets budgets = budgets_of(runs_, {rows.begin(), rows.end()});
    if (budgets.is_asked) notes_.budgets = budget_text(budgets);
    RunLengths lengths;
    std::set<std::string> windows;
    for (const std::size_t row : rows) {
      const auto number = [&](const char* key) { return as_number(runs_.column_or_nothing(key)[row]).value_or(0); };
      const double steps = number("train.steps");
      if (steps > 0) {
        lengths.add(static_cast<std::int64_t>(steps), steps * number("train.batch") * number("train.block"));
      }
      lengths.add_budget(number("train.flops"), number("train.seconds"));
      const double most = number("at.eval.max_windows");
      if (most > 0) windows.insert(fmt::format("{}", most));
    }
    notes_.windows = join({windows.begin(), windows.end()}, " or ");
    note_fallbacks(rows);
    const auto is_apart = [](const CellSample& sample) { return !sample.apart.empty(); };
    const bool any_apart = std::ranges::any_of(
        samples_, [&](const std::vector<CellSample>& row) { return std::ranges::any_of(row, is_apart); });
    if (!any_apart) return;
    notes_.length = lengths.text();
    notes_.paper_length = description_.paper->length();
  }

  /// Cells that show one column of the store on different corpora, unless rows or columns are named by their text.
  void note_texts() {
    if (std::ranges::any_of(naming_columns(description_), says_which_text)) return;
    std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> places;  // of cells, by their column
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        if (table_.rows[r].cells[c].value) places[table_.columns[c].cells.value].emplace_back(r, c);
      }
    }
    for (const auto& [column, cells] : places) {
      std::vector<std::vector<std::size_t>> runs;
      for (const auto& [r, c] : cells) runs.push_back(table_.rows[r].cells[c].rows);
      const std::vector<std::set<std::string>> corpora = corpora_of_each(runs_, runs, column);
      if (std::ranges::all_of(corpora, [&](const auto& of_cell) { return of_cell == corpora.front(); })) continue;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto [r, c] = cells[i];
        const std::string name = description_.column_key.empty() ? table_.rows[r].label : cell_name(table_, r, c);
        for (const std::string& corpus : corpora[i]) notes_.texts[corpus].insert(name);
      }
    }
  }

  /// Values that another sweep should have chosen, and has not.
  void note_fallbacks(const std::set<std::size_t>& rows) {
    for (const std::string& column : runs_.column_names()) {
      if (!column.starts_with(kChosenPrefix)) continue;
      const std::string key = column.substr(kChosenPrefix.size());
      for (const std::size_t row : rows) {
        if (to_text(runs_.column_or_nothing(column)[row]) != kChosenByNone) continue;
        notes_.fallbacks.insert(fmt::format("{}={}", key, to_text(runs_.column_or_nothing(key)[row])));
      }
    }
  }

  /// Adds the name of a cell, unless that of the cell before it, to which its value belongs, is there already.
  static void add_cell(std::vector<std::string>& names, const std::string& label, const TableColumn& column) {
    const std::string before = fmt::format("{}/{}", label, column.behind);
    const bool is_told = !column.behind.empty() && std::ranges::find(names, before) != names.end();
    if (!is_told) names.push_back(fmt::format("{}/{}", label, column.label));
  }

  /// Whether the runs of a cell differ as they should, in `over` alone.
  void note_variation(TableCell& cell, const std::string& label, const TableColumn& column) {
    cell.mixed = cell.groups < std::ssize(cell.rows) || !cell.differ_in.empty();
    if (!cell.mixed) return;
    add_cell(notes_.mixed, label, column);
    notes_.mixed_over = column.cells.over;
    notes_.mixed_in.insert(cell.differ_in.begin(), cell.differ_in.end());
  }

  RunTable& runs_;
  const TableDescription& description_;
  std::vector<Filter> filters_;
  std::vector<std::string> named_;
  std::vector<std::size_t> selected_;
  std::string unmet_;  // which condition on all of them holds for no run
  Table table_;
  TableNotes notes_;
  std::vector<std::size_t> used_;                            // rows whose numbers are in some cell
  std::vector<std::vector<CellSample>> samples_;             // by row and column
  std::vector<std::pair<Selection, NamedChoices>> choices_;  // by what is chosen, with the names of cells
};

}  // namespace

std::variant<Table, NothingToShow> build_table(RunTable& runs, const TableDescription& description,
                                               const std::vector<Filter>& filters) {
  const std::vector<Filter> all = with_conditions(filters, description.where);
  ShownRows selected = shown_rows(runs, all, naming_columns(description));
  return TableBuilder(runs, description, all, std::move(selected)).build();
}

}  // namespace xlm
